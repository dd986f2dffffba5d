//! As much of the protocol of Redis as a load needs: commands made in advance, and finding the end of a reply.

use super::Reply;
use super::http::number;

/// Encodes a command as an array of bulk strings.
pub(crate) fn command(words: &[&str]) -> Vec<u8> {
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), words.collect::<String>()).into_bytes()
}

/// Returns whether a reply is complete: `+OK`, or a bulk string. A missing key is an error, because every key was set.
pub(super) fn reply(received: &[u8]) -> Reply {
    let Some(line_end) = received.windows(2).position(|pair| pair == b"\r\n") else {
        return Reply::Unfinished;
    };
    let (line, rest) = received.split_at(line_end);
    let rest = rest.len() - 2;
    match line.split_first() {
        Some((b'+', _)) if rest == 0 => Reply::Whole,
        Some((b'$', digits)) => match number::<usize>(digits).map(|length| rest.cmp(&(length + 2))) {
            Some(std::cmp::Ordering::Less) => Reply::Unfinished,
            Some(std::cmp::Ordering::Equal) => Reply::Whole,
            Some(std::cmp::Ordering::Greater) | None => Reply::Wrong,
        },
        _ => Reply::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_an_array_of_bulk_texts() {
        assert_eq!(command(&["GET", "a-1"]), b"*2\r\n$3\r\nGET\r\n$3\r\na-1\r\n");
    }

    #[test]
    fn a_reply_ends_where_it_says() {
        let cases = [
            ("", Reply::Unfinished),
            ("+OK\r", Reply::Unfinished),
            ("+OK\r\n", Reply::Whole),
            ("$2\r\n", Reply::Unfinished),
            ("$2\r\nab", Reply::Unfinished),
            ("$2\r\nab\r", Reply::Unfinished),
            ("$2\r\nab\r\n", Reply::Whole),
            ("$2\r\nab\r\n+OK\r\n", Reply::Wrong),
            ("$-1\r\n", Reply::Wrong),
            ("-ERR no\r\n", Reply::Wrong),
        ];
        for (received, expected) in cases {
            assert_eq!(reply(received.as_bytes()), expected, "{received:?}");
        }
    }
}
