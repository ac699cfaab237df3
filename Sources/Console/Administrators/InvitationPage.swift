import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/invitation`: creates an administrator account for the person who opens an invite link.
///
/// The token is in the query, which access logs omit. Opening the page doesn't use up the link.
struct InvitationPage: Sendable {
  let invitations: Invitations
  let providers: ConsoleProviders
  let authorizer: RequestAuthorizer
  let frames: Frames
  let view: Template<InvitationView>

  func show(_ visitor: Visitor) async throws -> Response {
    let token = visitor.request.target.query.text("token") ?? ""
    let invitation = try await invitations.find(token: token)
    guard let invitation else { return ended(visitor) }
    return try await page(visitor, invitation, token, name: invitation.displayName, errors: [])
  }

  func accept(_ visitor: Visitor) async throws -> Response {
    let request = visitor.request
    let token = visitor.form.text("token") ?? ""
    let name = visitor.form.trimmed("name")
    do {
      let new = try await invitations.accept(
        token: token, displayName: name, password: Secret(visitor.form.text("password") ?? ""),
        address: request.peer, userAgent: request.fields[.userAgent] ?? "",
        requestID: request.id.text)
      return await SignInCompletion(authorizer: authorizer, frames: frames).response(
        new, visitor)
    } catch JoiningError.ended {
      return ended(visitor)
    } catch JoiningError.passwordSignInOff {
      let fault = FieldError(
        field: "password",
        text: Message("Password sign-in is off. Sign in with your organization’s provider instead.")
      )
      return try await page(visitor, token, name: name, fault)
    } catch let error as AdministratorError {
      return try await page(visitor, token, name: name, try SetupPage.fault(error))
    }
  }

  private func page(
    _ visitor: Visitor, _ token: String, name: String, _ fault: FieldError
  ) async throws -> Response {
    let invitation = try await invitations.find(token: token)
    guard let invitation else { return ended(visitor) }
    return try await page(visitor, invitation, token, name: name, errors: [fault])
  }

  private func page(
    _ visitor: Visitor, _ invitation: Invitation, _ token: String, name: String,
    errors: [FieldError]
  ) async throws -> Response {
    let off = try await providers.breakGlassAccount()
    var frame = frames.bare(
      Message("Administrator invitation"), for: visitor.request,
      path: ConsolePaths.invitation())
    frame.errors = errors
    let model = InvitationView(
      frame: FrameView(frame), csrf: visitor.formToken,
      open: OpenInvitation(
        frame: FrameView(frame), invitation: invitation, isPossible: off == nil, token: token,
        name: name))
    var response = Response.html(
      view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
    authorizer.cookies.keep(visitor, in: &response)
    return response
  }

  private func ended(_ visitor: Visitor) -> Response {
    let frame = frames.bare(
      Message("This invitation is invalid or expired"), for: visitor.request,
      path: ConsolePaths.invitation())
    let model = InvitationView(frame: FrameView(frame), csrf: visitor.formToken, open: nil)
    return .html(view.render(model), status: .notFound)
  }
}

struct InvitationView: ViewModel {
  let frame: FrameView
  let csrf: String
  let open: OpenInvitation?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.invitation() },
    .text("signIn") { _ in ConsolePaths.signIn() },
    .text(\.csrf),
    .optional(\.open),
  ]
}

struct OpenInvitation: ViewModel {
  let frame: FrameView
  let invitation: Invitation
  /// Whether password sign-in is on, without which the invitation can't be accepted.
  let isPossible: Bool
  let token: String
  let name: String

  static let keys: Keys<Self> = [
    .text(\.token),
    .flag(\.isPossible),
    .text("email") { $0.invitation.email },
    .text("inviter") { $0.invitation.inviterName },
    .markup("role") { $0.invitation.grant.place },
    .markup("roleEnd") { page in
      page.invitation.grantEndsAt.map { page.frame.times.end($0) }
    },
    .markup("until") { $0.frame.times.moment($0.invitation.expiresAt) },
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .text("passwordError") { $0.frame.error(at: "password") },
  ]
}
