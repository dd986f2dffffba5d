//! Redirects of the server: they lead to the proxy, or become an error.
//!
//! A client that followed a redirect to the server would bypass the proxy from then on. So a `Location` inside the server's origin becomes a
//! path of the proxy, and every other one is refused. The path is rewritten, because clients parse addresses differently: some treat a
//! backslash as a slash, and two slashes begin a host.

use hyper::header::{HeaderMap, LOCATION};
use hyper::http::uri::{PathAndQuery, Scheme, Uri};

/// Returns the target of a redirect as a path of the proxy. Returns `None` if it leads to another origin or is ambiguous.
pub(super) fn location(headers: &HeaderMap, upstream: &Uri, asked: &Uri) -> Option<String> {
    let mut locations = headers.get_all(LOCATION).iter();
    let location = locations.next()?.to_str().ok()?;
    let is_clear = |byte: u8| {
        byte.is_ascii_graphic()
            && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}')
    };
    if locations.next().is_some() || location.is_empty() || !location.bytes().all(is_clear) {
        return None;
    }
    let location = location.split('#').next().unwrap_or_default();
    let path = if location.starts_with("http") && location.contains("://") {
        inside(&location.parse().ok()?, upstream)?
    } else if location.starts_with("//") {
        inside(&format!("{}:{location}", upstream.scheme_str()?).parse().ok()?, upstream)?
    } else if location.starts_with('/') {
        location.to_owned()
    } else if location.starts_with('?') {
        format!("{}{location}", asked.path())
    } else if location.split(['/', '?']).next().is_some_and(|first| first.contains(':')) {
        // A scheme other than HTTP.
        return None;
    } else {
        let folder = asked.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{location}")
    };
    // `/` of the proxy is the server's address, so no path of the proxy leads to the root of the server's host.
    let is_root = path == "/" && upstream.path() != "/";
    let is_path = path.starts_with('/') && !path.starts_with("//") && path.parse::<PathAndQuery>().is_ok();
    (is_path && !is_root).then_some(path)
}

/// Returns the path of an address, if it has the server's origin and no user name.
fn inside(target: &Uri, upstream: &Uri) -> Option<String> {
    let has_user = target.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let is_same = !has_user && origin(target)? == origin(upstream)?;
    is_same.then(|| target.path_and_query().map_or("/", PathAndQuery::as_str).to_owned())
}

/// Returns the scheme, host and port of an address.
fn origin(uri: &Uri) -> Option<(Scheme, String, u16)> {
    let (scheme, authority) = (uri.scheme()?.clone(), uri.authority()?);
    let port = if scheme == Scheme::HTTPS { 443 } else { 80 };
    Some((scheme, authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(port)))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_redirect_leads_to_the_proxy_or_is_refused() {
        let upstream: Uri = "http://Host:80/mcp".parse().unwrap();
        let asked: Uri = "http://host/mcp?x=1".parse().unwrap();
        for (found, led) in [
            ("/mcp/", Some("/mcp/")),
            ("http://host/mcp/", Some("/mcp/")),
            ("http://HOST:80/mcp/?a=b#c", Some("/mcp/?a=b")),
            ("//host/other", Some("/other")),
            ("other", Some("/other")),
            ("mcp/", Some("/mcp/")),
            ("?y=2", Some("/mcp?y=2")),
            ("https://host/mcp/", None),
            ("http://host:8080/mcp", None),
            ("http://evil.example/mcp", None),
            ("//evil.example/mcp", None),
            ("/\\evil.example/mcp", None),
            ("\\\\evil.example", None),
            ("http://host//evil.example/", None),
            ("http://host@evil.example/", None),
            ("http://user:pass@host/", None),
            ("http:evil.example", None),
            ("javascript:alert(1)", None),
            ("data:text/plain,x", None),
            ("/a b", None),
            ("", None),
            ("/", None),
            ("http://host", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, HeaderValue::from_static(found));
            assert_eq!(location(&headers, &upstream, &asked).as_deref(), led, "{found}");
        }
        assert_eq!(location(&HeaderMap::new(), &upstream, &asked), None);
        let mut twice = HeaderMap::new();
        twice.append(LOCATION, HeaderValue::from_static("/a"));
        twice.append(LOCATION, HeaderValue::from_static("http://evil.example/"));
        assert_eq!(location(&twice, &upstream, &asked), None);
        let root: Uri = "http://host/".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_static("http://host"));
        assert_eq!(location(&headers, &root, &asked).as_deref(), Some("/"));
    }
}
