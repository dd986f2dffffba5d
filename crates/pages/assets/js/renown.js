// The script of the pages: times in the reader's time zone, tips, copy buttons, live updates. Pages are complete without it.
(() => {
  'use strict';
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Times. Pages contain UTC. The script converts it to the reader's time zone, which the footer names. In tips, a time is @minutes and a format.
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const date = { day: 'numeric', month: 'short' };
  const formats = { hm: clock, hms: { ...clock, second: '2-digit' }, dm: date, dmhm: { ...date, ...clock } };
  const when = (time, format) => new Intl.DateTimeFormat('en-GB', formats[format]).format(time).replace(',', '');
  const localize = root => {
    for (const time of all('time[data-f]', root)) time.textContent = when(new Date(time.dateTime), time.dataset.f);
    for (const zone of all('[data-zone]', root)) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
  };

  // Tips. One text for a mark (data-tip), or one per column of a chart (data-tips, separated by |, in data-rows rows).
  const tip = document.querySelector('.tip');
  const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
  const hide = () => {
    tip.hidden = true;
    for (const cursor of all('.cursor')) cursor.setAttribute('visibility', 'hidden');
  };
  const show = (text, x, y) => {
    tip.textContent = text.replace(/@(\d+)(dmhm|dm|hms|hm)/g, (_, minutes, format) => when(minutes * 6e4, format));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = clamp(x + 12, 8, Math.max(8, innerWidth - box.width - 8));
    const top = y - box.height - 12 < 8 ? y + 16 : y - box.height - 12;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };
  const columns = chart => {
    const texts = chart.dataset.tips.split('|'), rows = Number(chart.dataset.rows) || 1;
    return { texts, rows, per: Math.ceil(texts.length / rows) };
  };
  const point = (chart, index) => {
    const { texts, rows, per } = columns(chart);
    const at = clamp(index, 0, texts.length - 1), column = at % per, row = Math.floor(at / per), x = (column + .5) / per;
    chart.dataset.at = at;
    const cursor = chart.querySelector('.cursor'), box = chart.getBoundingClientRect();
    if (cursor && rows > 1) { cursor.setAttribute('x', column); cursor.setAttribute('y', row * 12); }
    else if (cursor) { cursor.setAttribute('x1', x * 100 + '%'); cursor.setAttribute('x2', x * 100 + '%'); }
    cursor?.setAttribute('visibility', 'visible');
    show(texts[at], box.left + x * box.width, box.top + row / rows * box.height);
  };
  document.addEventListener('pointermove', event => {
    const chart = event.target.closest?.('[data-tips]'), mark = event.target.closest?.('[data-tip]');
    if (mark) return show(mark.dataset.tip, event.clientX, event.clientY);
    if (!chart) return tip.hidden || document.activeElement?.matches('[data-tips]:focus-visible') ? undefined : hide();
    const { rows, per } = columns(chart), box = chart.getBoundingClientRect();
    const cell = (offset, size, count) => Math.floor(clamp(offset / size, 0, .9999) * count);
    point(chart, cell(event.clientY - box.top, box.height, rows) * per + cell(event.clientX - box.left, box.width, per));
  });
  document.addEventListener('keydown', event => {
    const chart = event.target.closest?.('[data-tips]');
    if (!chart) return;
    if (event.key === 'Escape') return hide();
    const { texts, per } = columns(chart), last = texts.length - 1, at = Number(chart.dataset.at ?? last);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - per, ArrowDown: at + per, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    point(chart, to);
  });
  document.addEventListener('focusin', event => {
    if (event.target.matches('[data-tips]:focus-visible')) point(event.target, Number(event.target.dataset.at ?? 1e9));
  });
  document.addEventListener('focusout', hide);

  // Copy buttons copy their own text or the command next to them. Some forms ask first, some are sent when a field changes.
  document.addEventListener('click', async event => {
    const button = event.target.closest?.('[data-copy]');
    if (!button) return;
    const label = button.textContent, text = button.dataset.copy || button.previousElementSibling.textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = 'Copied'; } catch { button.textContent = 'Not copied'; }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  document.addEventListener('submit', event => {
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
  document.addEventListener('change', event => {
    if (event.target.matches('[data-submit]')) event.target.form.requestSubmit();
  });

  // Live updates. When the stream reports a change, the page is fetched again and its parts with a data-live name are replaced.
  // Lists are not sorted again while the pointer is on them, and no part is added: each part replaces the old one.
  const raw = new WeakMap();
  const parts = root => new Map(all('[data-live]', root).map(part => [part.dataset.live, part]));
  for (const part of parts(document).values()) raw.set(part, part.outerHTML);
  localize(document);
  const state = document.querySelector('[data-stream]');
  if (!state) return;
  const EVERY = 2000;
  let asked = false, busy = false, last = 0;
  const refresh = async () => {
    if (busy || document.hidden) return;
    const wait = last + EVERY - Date.now();
    if (wait > 0) { setTimeout(refresh, wait); return; }
    busy = true; asked = false; last = Date.now();
    try {
      const reply = await fetch(location.href, { headers: { Accept: 'text/html' } });
      if (reply.redirected) return location.reload();
      if (reply.ok) put(new DOMParser().parseFromString(await reply.text(), 'text/html'));
    } catch { /* The stream reports when the server is back. */ }
    busy = false;
    if (asked) refresh();
  };
  const put = fresh => {
    const news = parts(fresh);
    let held = false;
    for (const [name, part] of parts(document)) {
      const next = news.get(name);
      // The page was empty and is not any more: it has a different layout.
      if (!next && 'empty' in part.dataset) return location.reload();
      if (!next || next.outerHTML === raw.get(part) || part.contains(document.activeElement)) continue;
      // A list does not change under the pointer. It is updated later.
      if (part.matches('tbody:hover')) { held = true; continue; }
      const text = next.outerHTML;
      localize(next);
      if (next.matches('tr')) next.classList.add('fresh');
      part.replaceWith(next);
      raw.set(next, text);
    }
    if (held) setTimeout(changed, EVERY);
  };
  const changed = () => { if (!asked) { asked = true; refresh(); } };
  const say = open => {
    state.classList.toggle('off', !open);
    state.querySelector('span').textContent = open ? 'live' : 'reconnecting';
  };
  const connect = () => {
    const stream = new EventSource(state.dataset.stream);
    let opened = false;
    stream.onopen = () => { say(true); if (opened) changed(); opened = true; };
    stream.onerror = () => {
      say(false);
      // The browser reconnects by itself, except after a reply that is not a stream.
      if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
    };
    for (const name of ['score', 'session', 'missed']) stream.addEventListener(name, changed);
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden && asked) refresh(); });
  connect();
})();
