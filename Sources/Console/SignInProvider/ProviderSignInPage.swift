import Crypto
import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating
import Text

/// `/sign-in/provider` and `/sign-in/provider/callback`: signs in with the provider, links an
/// administrator, and re-authenticates one.
struct ProviderSignInPage: Sendable {
  let identity: Identity
  let authorizer: RequestAuthorizer
  let frames: Frames
  let failures: Failures
  let refused: Template<ProviderRefusedView>
  let leaving: ProviderLeaving
  /// The routes that a sign-in can continue to.
  let destinations: [Route]

  /// Sends the browser to the provider.
  func begin(_ visitor: Visitor) async throws(Refusal) -> Response {
    let next = ReturnAddress.checked(
      visitor.request.target.query.text("next"), among: destinations)
    do {
      let start = try await identity.consoleProviders.begin(.signIn, redirect: leaving.redirect)
      var response = Response.redirect(to: start.address)
      response.status = .found
      leaving.keep(start, next: next, in: &response)
      return response
    } catch {
      return try await refusal(error, visitor)
    }
  }

  /// Receives the provider's answer.
  func receive(_ visitor: Visitor) async throws(Refusal) -> Response {
    let request = visitor.request
    let query = request.target.query
    // The browser sends this server's strict cookies only if its own page leads here.
    if UntrustedText(request.fields["Sec-Fetch-Site"] ?? "") == "cross-site",
      query["returned"] == nil, query["state"] != nil
    {
      return try await leaving.comeBack(request)
    }
    guard let kept = authorizer.cookies.provider(of: request), let state = query.text("state")
    else { return try await refusal(.ended, visitor) }
    let answer = ProviderAnswer(
      state: state, code: query.text("code", atMost: ProviderAnswer.longestCode),
      error: query.text("error").map { ProviderErrorCode($0) }, issuer: query.text("iss"))
    let session = try await authorizer.session(of: request)
    let origin = SignInOrigin(
      address: request.peer, userAgent: request.fields[.userAgent] ?? "",
      devices: authorizer.cookies.devices(of: request), requestID: request.id.text)
    var response: Response
    do {
      let outcome = try await identity.consoleProviders.finish(
        answer, ticket: kept.ticket, session: session, redirect: leaving.redirect, from: origin)
      response = await arrive(outcome, visitor, next: kept.next)
    } catch {
      response = try await refusal(error, visitor)
    }
    response.fields.add(.setCookie, authorizer.cookies.endOfProvider.description)
    return response
  }

  private func arrive(
    _ outcome: ProviderSignIn, _ visitor: Visitor, next: String?
  ) async -> Response {
    let next = ReturnAddress.checked(next, among: destinations)
    switch outcome {
    case .signedIn(let new):
      return await SignInCompletion(authorizer: authorizer, frames: frames).response(
        new, visitor, to: next, among: destinations)
    case .secondFactorDue(let pending, let methods):
      let path =
        methods.contains(.totp) ? ConsolePaths.signInCode() : ConsolePaths.signInCodePasskey()
      var response = Response.redirect(to: ReauthenticationPage.address(path, backTo: next))
      response.fields.add(
        .setCookie, authorizer.cookies.pending(pending.revealedText).description)
      return response
    case .linked(let renewed):
      return leave(renewed, Message("sign-in-provider.linked"), to: ConsolePaths.ownProvider())
    case .reauthenticated(let renewed, let hasSecondFactor):
      let text =
        hasSecondFactor
        ? Message("sign-in-provider.confirmed")
        : Message("sign-in-provider.confirmed-without-second-factor")
      return leave(renewed, text, to: next ?? ConsolePaths.account())
    }
  }

  private func leave(_ renewed: NewConsoleSession, _ text: Message, to path: String) -> Response {
    frames.leave(Flash(text: text), for: renewed.session)
    var response = Response.redirect(to: path)
    response.fields.add(
      .setCookie, authorizer.cookies.session(renewed.token.revealedText).description)
    return response
  }

  private func refusal(
    _ error: ProviderSignInError, _ visitor: Visitor
  ) async throws(Refusal) -> Response {
    if case .unavailable = error { throw .unavailable(error) }
    let name = try await refusing { try await identity.consoleProviders.name() }
    guard let name else { return .redirect(to: ConsolePaths.signIn()) }
    if let diagnosis = error.diagnosis {
      failures.report(.providerFailed(diagnosis: diagnosis), of: visitor.request)
    }
    let isSignedIn = try await authorizer.session(of: visitor.request) != nil
    let words = ProviderRefusalText(
      error, provider: name, isSignedIn: isSignedIn, at: frames.clock.now())
    let frame = frames.bare(words.heading, for: visitor.request, path: ConsolePaths.signIn())
    let view = ProviderRefusedView(
      frame: FrameView(frame), words: words, identity: error.identity,
      back: isSignedIn ? ConsolePaths.account() : ConsolePaths.signIn(), isSignedIn: isSignedIn)
    var response = Response.html(refused.render(view), status: words.status)
    if let seconds = words.seconds { response.fields[.retryAfter] = String(seconds) }
    return response
  }
}

/// The page that says why a sign-in with the provider failed.
struct ProviderRefusedView: ViewModel {
  let frame: FrameView
  let words: ProviderRefusalText
  let identity: ProviderIdentity?
  let back: String
  let isSignedIn: Bool

  private var facts: [Fact] {
    guard let identity else { return [] }
    let none = Message("sign-in-provider.none")
    return [
      Fact(
        Message("common.name"),
        identity.person.name.map { HTML.isolated($0) } ?? Markup(escaping: none)),
      Fact(
        Message("common.email"),
        identity.person.email.map { HTML.isolated($0) } ?? Markup(escaping: none)),
      Fact(Message("sign-in-provider.subject"), HTML.isolated(identity.subject)),
      Fact(Message("sign-in-provider.groups"), identity.groups.list),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") { $0.words.heading },
    .text("sentence") { $0.words.sentence },
    .text("advice") { $0.words.advice },
    .flag("hasFacts") { $0.identity != nil },
    .list("facts") { $0.facts },
    .text(\.back),
    .text("backText") {
      $0.isSignedIn ? Message("account.your-account") : Message("sign-in-provider.back-to-sign-in")
    },
  ]
}
