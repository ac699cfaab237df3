import HTTP
import Identity
import Localization
import Templating

/// `/account/reauthentication/provider`: confirms the identity of the signed-in administrator by a
/// new sign-in at the provider.
struct ProviderReauthenticationPage: Sendable {
  let identity: Identity
  let frames: Frames
  let leaving: ProviderLeaving
  let view: Template<ProviderReauthenticationView>
  /// The routes that it can continue to.
  let destinations: [Route]

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    page(signedIn, next: signedIn.query.text("next"))
  }

  func begin(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let next = ReturnAddress.checked(signedIn.form.text("next"), among: destinations)
    do {
      let start = try await identity.consoleProviders.begin(
        .reauthentication(signedIn.session), redirect: leaving.redirect)
      return try await leaving.leave(start, next: next, for: signedIn.request)
    } catch let error as ProviderSignInError {
      if case .unavailable = error { throw .unavailable(error) }
      guard let name = signedIn.session.provider.name else {
        return .redirect(to: ConsolePaths.account())
      }
      let words = ProviderRefusalText(error, provider: name, at: frames.clock.now())
      return page(
        signedIn, next: next, errors: [FieldError(field: "provider", text: words.sentence)])
    } catch let error as Refusal { throw error } catch { throw .unavailable(error) }
  }

  private func page(
    _ signedIn: SignedIn, next: String?, errors: [FieldError] = []
  ) -> Response {
    guard let name = signedIn.session.provider.name else {
      return .redirect(to: ConsolePaths.account())
    }
    let next = ReturnAddress.checked(next, among: destinations)
    var frame = frames.frame(Message("sign-in-provider.confirm-your-identity"), for: signedIn)
    frame.errors = errors
    if signedIn.session.secondFactor.isReady {
      frame.crumbs = [Link(text: Message("account.your-account"), href: ConsolePaths.account())]
    } else {
      // Every other page redirects to the setup of a second factor.
      (frame.sidebar, frame.approvals, frame.find) = (nil, nil, nil)
    }
    let model = ProviderReauthenticationView(
      frame: FrameView(frame), csrf: signedIn.session.csrfToken, name: name, next: next)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct ProviderReauthenticationView: ViewModel {
  let frame: FrameView
  let csrf: String
  let name: String
  let next: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text(\.name),
    .text(\.next),
    .text("providerError") { $0.frame.error(at: "provider") },
    .text("action") { _ in ConsolePaths.providerReauthentication() },
    .text("cancel") { $0.next ?? ConsolePaths.account() },
  ]
}

/// A link to the page that confirms the administrator's identity at the provider.
struct ProviderConfirmation: ViewModel, Sendable {
  let name: String
  let href: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
  ]
}

extension SignedIn {
  /// The page that confirms the administrator's identity at the provider and leads back to this
  /// page; nil if they aren't linked.
  var providerReauthentication: ProviderConfirmation? {
    session.provider.name.map { name in
      ProviderConfirmation(
        name: name,
        href: ReauthenticationPage.address(
          ConsolePaths.providerReauthentication(), backTo: ReturnAddress.current(request)))
    }
  }
}
