'use strict';
(() => {
  const query = new URLSearchParams(location.search);
  const key = query.get('apiKey') + ':' + query.get('appName');
  const place = 'firebase:redirectEvent:' + key;
  let application = null;

  const send = (event) => {
    const nothing = { type: 'unknown', error: { code: 'auth/no-auth-event' } };
    application.send('authEvent', { type: 'authEvent', authEvent: event || nothing }, (answers) => {
      const last = answers && answers[answers.length - 1];
      if (!last || last.status !== 'ACK') console.error('The application did not accept the event.');
    }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
  };

  // Events come from the window alone, which is of this origin.
  addEventListener('message', ({ origin, data }) => {
    if (origin !== location.origin || !data || data.eventType !== 'sendAuthEvent') return;
    if (!data.data || data.data.storageKey !== key) return;
    if (application) send(data.data.authEvent);
    else sessionStorage.setItem(place, JSON.stringify(data.data.authEvent));
  });

  const begin = () => {
    application = gapi.iframes.getContext().getParentIframe();
    application.register('webStorageSupport', () => ({ status: 'ACK', webStorageSupport: true }),
      gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(place)); } catch (error) { /* nothing kept */ }
    sessionStorage.removeItem(place);
    send(kept);
  };

  window.gapi_onload = () => gapi.load('gapi.iframes', {
    callback: begin, timeout: 10000,
    ontimeout: () => console.error('https://apis.google.com cannot be reached.'),
  });
})();
