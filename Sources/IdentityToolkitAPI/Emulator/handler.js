'use strict';
(() => {
  const query = new URLSearchParams(location.search);
  const given = (name) => query.get(name) || '';
  const find = (id) => document.getElementById(id);
  const type = given('authType');
  const provider = given('providerId');
  const key = given('apiKey') + ':' + given('appName');

  const refuse = (text) => {
    find('trouble').textContent = text;
    find('trouble').hidden = false;
  };

  // The application's frame is a sibling of the opener and has this origin.
  const relay = (event) => {
    const frames = window.opener ? window.opener.frames : [];
    let isSent = false;
    for (let index = 0; index < frames.length; index += 1) {
      try {
        const asked = new URLSearchParams(frames[index].location.search);
        if (asked.get('apiKey') + ':' + asked.get('appName') !== key) continue;
        frames[index].postMessage({
          eventType: 'sendAuthEvent', eventId: String(Math.random()).slice(2),
          data: { storageKey: key, authEvent: event },
        }, location.origin);
        isSent = true;
      } catch (error) {
        // A frame of another origin can't be read.
      }
    }
    if (!isSent) {
      refuse('The application that opened this window is closed. Close this window.');
    }
  };

  const leadToAndroid = (event) => {
    const extras = [
      ['S.authType', event.type], ['S.eventId', event.eventId || ''],
      ['S.link', event.urlResponse],
      ['S.browser_fallback_url', location.href + '&error=No+application+opens+the+link.'],
    ].filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)};`);
    location.replace('intent://firebase.auth/#Intent;scheme=genericidp;'
      + `package=${encodeURIComponent(given('apn'))};${extras.join('')}`
      + 'B.encryptionEnabled=false;end;');
  };

  const leadToApple = (event) => {
    const back = new URL('/__/auth/callback', location.origin);
    back.searchParams.set('authType', event.type);
    back.searchParams.set('link', event.urlResponse);
    if (event.eventId) back.searchParams.set('eventId', event.eventId);
    const client = given('clientId');
    const app = given('appId');
    const scheme = client ? client.split('.').reverse().join('.')
      : app ? 'app-' + app.replaceAll(':', '-') : given('ibi');
    const host = client || app ? 'firebaseauth' : 'google';
    location.replace(`${scheme}://${host}/link?deep_link_id=${encodeURIComponent(back.href)}`);
  };

  const leadBack = (event) => {
    let target = null;
    try { target = new URL(given('redirectUrl')); } catch (error) { /* reported below */ }
    if (!target || /^(javascript|data|blob|file):$/.test(target.protocol)) {
      refuse('The application has no valid redirect address: redirectUrl is missing or invalid.');
      return;
    }
    sessionStorage.setItem('firebase:redirectEvent:' + key, JSON.stringify(event));
    location.assign(target.href);
  };

  const finish = (claims) => {
    const event = {
      type, eventId: given('eventId') || null,
      urlResponse: location.origin + location.pathname
        + '?providerId=' + encodeURIComponent(provider)
        + '&id_token=' + encodeURIComponent(JSON.stringify(claims)),
      sessionId: 'emulator', postBody: '',
      tenantId: given('tid') || given('tenantId') || null, error: null,
    };
    if (/popup/i.test(type)) relay(event);
    else if (given('apn')) leadToAndroid(event);
    else if (given('ibi')) leadToApple(event);
    else leadBack(event);
  };

  const claimsOf = (known) => ({
    iss: '', aud: '', iat: 0, exp: 0, email_verified: true, ...known,
  });

  find('provider').textContent = provider;
  if (given('error')) refuse(given('error'));
  for (const known of JSON.parse(find('identities').textContent)) {
    const button = document.createElement('button');
    const name = document.createElement('bdi');
    name.textContent = [known.name, known.email].filter(Boolean).join(', ') || known.sub;
    button.append(name);
    button.addEventListener('click', () => finish(claimsOf(known)));
    const line = document.createElement('li');
    line.append(button);
    find('known').append(line);
  }
  find('new').addEventListener('submit', (submission) => {
    submission.preventDefault();
    const digits = crypto.getRandomValues(new Uint8Array(21));
    const claims = { sub: Array.from(digits, (digit) => digit % 10).join('') };
    for (const [name, value] of new FormData(find('new'))) if (value) claims[name] = value;
    finish(claimsOf(claims));
  });
  find('invent').addEventListener('click', () => {
    const number = Math.floor(Math.random() * 9000) + 1000;
    const fields = find('new').elements;
    fields.email.value = `tester.${number}@example.com`;
    fields.name.value = `Tester ${number}`;
    fields.screen_name.value = `tester_${number}`;
  });
})();
