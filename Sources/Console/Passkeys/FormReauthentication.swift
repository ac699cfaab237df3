import HTTP
import Identity
import Text

/// `/account/reauthentication/passkey/form` and `/account/reauthentication/provider/form`: keep a form
/// that can't be submitted yet while the administrator confirms their identity, which leads to it.
struct FormReauthentication: Sendable {
  let drafts: Drafts
  let destinations: [Route]

  func withPasskey(_ signedIn: SignedIn) async throws -> Response {
    try await keep(signedIn, continuingAt: ConsolePaths.passkeyReauthentication())
  }

  func withProvider(_ signedIn: SignedIn) async throws -> Response {
    try await keep(signedIn, continuingAt: ConsolePaths.providerReauthentication())
  }

  private func keep(
    _ signedIn: SignedIn, continuingAt path: String
  ) async throws -> Response {
    guard let target = signedIn.form.text(Drafts.addressField).flatMap({ Target($0) }),
      ReturnAddress.isLocal(target.rawPath),
      destinations.contains(where: { $0.method == .post && $0.fits(target) })
    else { throw Refusal.unreadableForm }
    let mark = try await drafts.keep(
      signedIn.form, sentTo: target, of: signedIn.request, by: signedIn.administrator.id)
    guard let mark else { throw Refusal.staleForm }
    return .redirect(
      to: ReauthenticationPage.address(path, backTo: KeptAnswersPage.address(mark)))
  }
}
