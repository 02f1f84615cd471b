// Begins the page, and begins it anew where a server says that the plan is another one: the document, its view, what is
// pinned and looked for stay. Times of new frames of the same plan only move what is drawn.

let ending = new AbortController();

function begin(payload, kept) {
  ending.abort();
  ending = new AbortController();
  for (const element of [...document.body.children]) if (!element.matches('script, noscript')) element.remove();
  delete document.documentElement.dataset.ready;
  return page(payload, ending.signal, kept);
}

const data = document.getElementById('data');
let shownPage = begin(JSON.parse(data.textContent));

// Follows a server: it reports which plan runs, and the times of its last frames.
function follow() {
  const source = new EventSource('events');
  let [known, waiting, paused] = [shownPage.version, null, false];
  const show = async (news) => {
    if (news.version !== known) {
      const answer = await fetch('data');
      const payload = await answer.json();
      known = payload.live;
      shownPage = begin(payload, shownPage.kept());
      shownPage.showState(paused ? 'paused' : 'live', pause);
    } else if (news.frames) shownPage.renew(news.frames, news.images);
  };
  const pause = () => {
    paused = !paused;
    shownPage.showState(paused ? 'paused' : 'live', pause);
    if (!paused && waiting) show(waiting);
  };
  source.addEventListener('message', (event) => {
    waiting = JSON.parse(event.data);
    shownPage.showState(paused ? 'paused' : 'live', pause);
    if (!paused) show(waiting);
  });
  source.addEventListener('error', () => shownPage.showState('lost', pause));
  shownPage.showState('live', pause);
}

if (shownPage.version) follow();
