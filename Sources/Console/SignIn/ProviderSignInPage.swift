import Crypto
import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating
import Text

/// `/sign-in/provider` and `/sign-in/provider/callback` sign in with the provider;
/// `/account/reauthentication/provider` confirms the identity of the signed-in administrator by a new
/// sign-in there, and links them if they aren't yet.
struct ProviderSignInPage: Sendable {
  let identity: Identity
  let authorizer: RequestAuthorizer
  let frames: Frames
  let failures: Failures
  let refused: Template<ProviderRefusedView>
  let confirmation: Template<ProviderConfirmationView>
  let continuing: Template<ProviderContinuingView>
  let destinations: [Route]

  /// Where the provider sends its answers.
  private var redirect: String { authorizer.publicURL.origin + ConsolePaths.providerCallback() }

  /// Sends the browser to the provider.
  func begin(_ visitor: Visitor) async throws -> Response {
    let next = ReturnAddress.checked(
      visitor.request.target.query.text("next"), among: destinations)
    do {
      let start = try await identity.consoleProviders.begin(redirect: redirect)
      var response = Response.redirect(to: start.address)
      response.status = .found
      keep(start, next: next, in: &response)
      return response
    } catch let error as ProviderSignInError {
      return try await refusal(error, visitor.request)
    }
  }

  /// Asks the signed-in administrator to sign in at the provider again.
  func ask(_ signedIn: SignedIn) async throws -> Response {
    guard let name = try await name(for: signedIn) else {
      return .redirect(to: ConsolePaths.account())
    }
    let isLinked = signedIn.session.provider.name != nil
    let title =
      isLinked
      ? Message("Confirm your identity")
      : Message("Sign in with {name}", ["name": .name(Formatted.short(name))])
    let model = ProviderConfirmationView(
      frame: FrameView(await frames.belowAccount(title, signedIn)), name: name, isLinked: isLinked,
      next: ReturnAddress.checked(signedIn.query.text("next"), among: destinations))
    return .html(confirmation.render(model))
  }

  func confirm(_ signedIn: SignedIn) async throws -> Response {
    guard try await name(for: signedIn) != nil else {
      return .redirect(to: ConsolePaths.account())
    }
    let next = ReturnAddress.checked(signedIn.form.text("next"), among: destinations)
    let start: ProviderStart
    do {
      start = try await identity.consoleProviders.begin(in: signedIn.session, redirect: redirect)
    } catch let error as ProviderSignInError {
      if case .reauthenticationRequired = error, !signedIn.session.factors.isEmpty {
        return .redirect(to: signedIn.factorReauthentication)
      }
      return try await refusal(error, signedIn.request)
    }
    var response = lead(to: start.address, signedIn.request)
    keep(start, next: next, in: &response)
    return response
  }

  private func keep(_ start: ProviderStart, next: String?, in response: inout Response) {
    response.set(authorizer.cookies.provider(start.ticket.revealedText, next: next))
  }

  /// A page that continues automatically, after a form or another site's page: the browser refuses to
  /// follow a form's redirect to another site, and another site's redirect has no strict cookies.
  private func lead(to address: String, _ request: Request) -> Response {
    let frame = frames.bare(Message("Redirecting…"), for: request, path: ConsolePaths.signIn())
    let model = ProviderContinuingView(frame: FrameView(frame), address: address)
    var response = Response.html(continuing.render(model))
    let cleaned = Response.redirect(to: address).fields[.location] ?? ""
    response.fields.add("Refresh", "0; url=\(cleaned)")
    return response
  }

  /// The provider's name; nil if there's none, or if an administrator who isn't linked has to set up a
  /// second factor first.
  private func name(for signedIn: SignedIn) async throws -> String? {
    guard signedIn.session.provider.name != nil || signedIn.session.secondFactor.isReady else {
      return nil
    }
    return try await identity.consoleProviders.name()
  }

  func receive(_ visitor: Visitor) async throws -> Response {
    let request = visitor.request
    let query = request.target.query
    // The browser sends this server's strict cookies only if its own page leads here.
    if UntrustedText(request.fields["Sec-Fetch-Site"] ?? "") == "cross-site",
      query["returned"] == nil, query["state"] != nil
    {
      return lead(
        to: "\(request.target.rawPath)?\(request.target.rawQuery ?? "")&returned=1", request)
    }
    guard let kept = authorizer.cookies.provider(of: request), let state = query.text("state")
    else { return try await refusal(.ended, request) }
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
        answer, ticket: kept.ticket, session: session, redirect: redirect, from: origin)
      response = await arrive(outcome, visitor, next: kept.next)
    } catch let error as ProviderSignInError {
      response = try await refusal(error, request)
    }
    response.set(authorizer.cookies.provider("", next: nil).ended)
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
      return authorizer.cookies.askForFactor(pending, methods, thenTo: next)
    case .confirmed(let renewed, let isLinked, let hasSecondFactor):
      let text =
        isLinked
        ? Message("Your account is linked.")
        : hasSecondFactor
          ? Message("You confirmed your identity.")
          : Message("You confirmed your identity without a second factor. Some actions need one.")
      frames.flashes.leave(Flash(text: text), for: renewed.session)
      var response = Response.redirect(to: next ?? ConsolePaths.account())
      response.set(authorizer.cookies.session(renewed.token.revealedText))
      return response
    }
  }

  private func refusal(
    _ error: ProviderSignInError, _ request: Request
  ) async throws -> Response {
    let name = try await identity.consoleProviders.name()
    guard let name else { return .redirect(to: ConsolePaths.signIn()) }
    if let diagnosis = error.diagnosis {
      failures.report(.providerFailed(diagnosis: diagnosis), of: request)
    }
    let isSignedIn = try await authorizer.session(of: request) != nil
    let words = ProviderRefusalText(
      error, provider: name, isSignedIn: isSignedIn, at: frames.clock.now())
    let frame = frames.bare(words.heading, for: request, path: ConsolePaths.signIn())
    let view = ProviderRefusedView(
      frame: FrameView(frame), words: words, isSignedIn: isSignedIn)
    var response = Response.html(refused.render(view), status: words.status)
    if let seconds = words.seconds { response.fields[.retryAfter] = String(seconds) }
    return response
  }
}

struct ProviderRefusedView: ViewModel {
  let frame: FrameView
  let words: ProviderRefusalText
  let isSignedIn: Bool

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") { $0.words.heading },
    .text("sentence") { $0.words.sentence },
    .text("advice") { $0.words.advice },
    .text("back") { $0.isSignedIn ? ConsolePaths.account() : ConsolePaths.signIn() },
    .text("backText") {
      $0.isSignedIn ? Message("Your account") : Message("Back to sign-in")
    },
  ]
}

struct ProviderContinuingView: ViewModel {
  let frame: FrameView
  let address: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.address),
  ]
}

struct ProviderConfirmationView: ViewModel {
  let frame: FrameView
  let name: String
  let isLinked: Bool
  let next: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.name),
    .flag(\.isLinked),
    .text(\.next),
    .text("action") { _ in ConsolePaths.providerReauthentication() },
    .text("cancel") { $0.next ?? ConsolePaths.account() },
  ]
}

/// Sign-in and re-authentication with the provider, which lead to the pages of all others.
enum ProviderEntranceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ProviderSignInPage(
      identity: parts.identity, authorizer: parts.authorizer, frames: parts.frames,
      failures: table.failures,
      refused: try parts.template("sign-in-provider/refused"),
      confirmation: try parts.template("sign-in-provider/confirmation"),
      continuing: try parts.template("sign-in-provider/continuing"),
      destinations: table.destinations)
    table.open(.get, ConsolePaths.providerSignIn, page.begin)
    table.open(.get, ConsolePaths.providerCallback, page.receive)
    table.settingUp(.get, ConsolePaths.providerReauthentication, at: .anyStage, page.ask)
    table.settingUp(.post, ConsolePaths.providerReauthentication, at: .anyStage, page.confirm)
  }
}

extension ConsolePaths {
  static let providerSignIn = Path("sign-in", "provider")
  static let providerCallback = Path("sign-in", "provider", "callback")
  static let providerReauthentication = Path("account", "reauthentication", "provider")
}
