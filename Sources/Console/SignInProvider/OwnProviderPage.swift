import HTTP
import Identity
import Localization
import OpenIDConnect
import Templating

/// `/account/provider`: links the signed-in administrator with the provider, or ends the link.
struct OwnProviderPage: Sendable {
  let identity: Identity
  let frames: Frames
  let leaving: ProviderLeaving
  let view: Template<OwnProviderView>
  let removal: Template<OwnProviderView>

  private var providers: ConsoleProviders { identity.consoleProviders }

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(view, signedIn)
  }

  /// Starts linking.
  func link(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    do {
      let start = try await providers.begin(
        .link(signedIn.session), redirect: leaving.redirect)
      return try await leaving.leave(start, next: nil, for: signedIn.request)
    } catch let error as ProviderSignInError {
      return try await refuse(error, view, signedIn)
    } catch let error as Refusal { throw error } catch { throw .unavailable(error) }
  }

  func askForRemoval(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let id = signedIn.administrator.id
    guard try await refusing({ try await providers.link(of: id) }) != nil,
      try await refusing({ try await providers.linkNecessity(for: id) }) == nil
    else { return .redirect(to: ConsolePaths.ownProvider()) }
    return try await page(removal, signedIn)
  }

  func remove(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    do {
      try await providers.unlink(signedIn.session, by: signedIn.author)
    } catch {
      return try await refuse(error, removal, signedIn)
    }
    frames.leave(Message("sign-in-provider.unlinked"), for: signedIn)
    return .redirect(to: ConsolePaths.account())
  }

  private func refuse(
    _ error: ProviderSignInError, _ view: Template<OwnProviderView>, _ signedIn: SignedIn
  ) async throws(Refusal) -> Response {
    if case .unavailable = error { throw .unavailable(error) }
    if case .reauthenticationRequired = error, let address = reauthentication(signedIn) {
      return .redirect(to: address)
    }
    let name = try await refusing { try await providers.name() }
    guard let name else { return .redirect(to: ConsolePaths.account()) }
    let words = ProviderRefusalText(error, provider: name, at: frames.clock.now())
    return try await page(
      view, signedIn, errors: [FieldError(field: "provider", text: words.sentence)])
  }

  /// Where the administrator confirms their identity; nil without a second factor and a link.
  private func reauthentication(_ signedIn: SignedIn) -> String? {
    guard signedIn.session.factors.isEmpty else { return signedIn.factorReauthentication }
    guard signedIn.session.provider.name != nil else { return nil }
    return ReauthenticationPage.address(
      ConsolePaths.providerReauthentication(), backTo: ReturnAddress.current(signedIn.request))
  }

  private func page(
    _ view: Template<OwnProviderView>, _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let name = try await refusing { try await providers.name() }
    guard let name else { return .redirect(to: ConsolePaths.account()) }
    let id = signedIn.administrator.id
    let link = try await refusing { try await providers.link(of: id) }
    let necessity = try await refusing { try await providers.linkNecessity(for: id) }
    var frame = frames.frame(
      Message("sign-in-provider.own-link", ["name": .name(Formatted.short(name))]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [Link(text: Message("account.your-account"), href: ConsolePaths.account())]
    let model = OwnProviderView(
      frame: FrameView(frame), csrf: signedIn.session.csrfToken, name: name, link: link,
      necessity: necessity)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct OwnProviderView: ViewModel {
  let frame: FrameView
  let csrf: String
  let name: String
  let link: AdministratorProviderLink?
  /// Why the administrator couldn't sign in without the link; nil if they could.
  let necessity: LinkNecessity?

  private var facts: [Fact] {
    guard let link else { return [] }
    return [
      Fact(Message("sign-in-provider.subject"), HTML.isolated(link.subject)),
      Fact(Message("sign-in-provider.linked-since"), frame.times.past(link.createdAt)),
      Fact(
        Message("sign-in-provider.last-sign-in"),
        link.lastSignInAt.map(frame.times.past)
          ?? Markup(escaping: Message("sign-in-provider.never"))),
      Fact(Message("sign-in-provider.groups"), link.groups.list),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text(\.name),
    .text("providerError") { $0.frame.error(at: "provider") },
    .flag("isLinked") { $0.link != nil },
    .list("facts") { $0.facts },
    .text("action") { _ in ConsolePaths.ownProvider() },
    .text("necessity") { view in view.necessity.map { $0.message(view.name) } },
    .text("removal") { _ in ConsolePaths.ownProviderRemoval() },
    .text("back") { _ in ConsolePaths.account() },
  ]
}
