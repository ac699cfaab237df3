import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/administrators/new`: creates a single-use invite link for a new administrator.
struct NewAdministratorPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let publicURL: PublicURL
  let view: Template<NewAdministratorView>
  let created: Template<CreatedInvitationView>

  private var frames: Frames { actions.frames }

  func show(_ signedIn: SignedIn) async throws -> Response {
    try await page(signedIn, email: "", name: "", GrantAnswers(), errors: [])
  }

  func invite(_ signedIn: SignedIn) async throws -> Response {
    let (email, name) = (signedIn.form.trimmed("email"), signedIn.form.trimmed("name"))
    let answers = GrantAnswers(signedIn.form)
    var errors: [FieldError] = []
    if email.isEmpty {
      errors.append(FieldError(field: "email", text: Message("Enter the person’s email address.")))
    }
    if name.isEmpty {
      errors.append(FieldError(field: "name", text: Message("Enter the person’s name.")))
    }
    let (grant, faults) = answers.grant()
    let (end, endFaults) = answers.end(try signedIn.formTimes)
    errors += faults + endFaults
    guard errors.isEmpty, let grant else {
      errors += try await actions.unmet(.inviteAdministrator, signedIn)
      return try await page(signedIn, email: email, name: name, answers, errors: errors)
    }
    do {
      let outcome = try await identity.invitations.invite(
        email: email, displayName: name, grant: grant, until: end, actions.request(signedIn))
      return actions.page(await handOver(signedIn, outcome.value), after: outcome)
    } catch {
      let errors = try await actions.faults(error, .inviteAdministrator, signedIn) {
        (error: ManagementError) in try error.fault(answers)
      }
      return try await page(signedIn, email: email, name: name, answers, errors: errors)
    }
  }

  /// The server stores only a digest of its token, so it can't be shown again.
  private func handOver(_ signedIn: SignedIn, _ new: NewInvitation) async -> Response {
    let title = Message("Invitation")
    var frame = await frames.frame(
      Message("{title} · Administrators", ["title": .message(title)]), for: signedIn)
    frame.crumbs = [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators())
    ]
    let query: Form = ["token": new.token.revealedText]
    let view = CreatedInvitationView(
      frame: FrameView(frame), invitation: new.invitation, isReplacement: new.isReplacement,
      link: publicURL.origin + query.query(of: ConsolePaths.invitation()))
    return .html(created.render(view))
  }

  private func page(
    _ signedIn: SignedIn, email: String, name: String, _ answers: GrantAnswers,
    errors: [FieldError]
  ) async throws -> Response {
    let places = try await Places(identity: identity).few(for: signedIn.administrator)
    let off = try await identity.consoleProviders.breakGlassAccount()
    let title = Message("New administrator")
    var frame = await frames.frame(
      Message("{title} · Administrators", ["title": .message(title)]), for: signedIn)
    frame.errors = errors
    frame.crumbs = [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators())
    ]
    let view = FrameView(frame)
    let model = NewAdministratorView(
      frame: view, csrf: signedIn.session.csrfToken, isPossible: off == nil, email: email,
      name: name,
      fields: GrantFields(
        answers: answers, places: places, frame: view, times: try signedIn.formTimes,
        now: frames.clock.now()),
      authorization: try await actions.fields(.inviteAdministrator, signedIn, view))
    return .html(self.view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct NewAdministratorView: ViewModel {
  let frame: FrameView
  let csrf: String
  let isPossible: Bool
  let email: String
  let name: String
  let fields: GrantFields
  let authorization: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.newAdministrator() },
    .text("cancel") { _ in ConsolePaths.administrators() },
    .flag(\.isPossible),
    .text("passwordSignIn") { _ in ConsolePaths.signInProvider() },
    .text(\.csrf),
    .text(\.email),
    .text(\.name),
    .object(\.fields),
    .object(\.authorization),
    .text("emailError") { $0.frame.error(at: "email") },
    .text("nameError") { $0.frame.error(at: "name") },
  ]
}

struct CreatedInvitationView: ViewModel {
  let frame: FrameView
  let invitation: Invitation
  let isReplacement: Bool
  let link: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.link),
    .flag(\.isReplacement),
    .text("name") { Formatted.short($0.invitation.displayName) },
    .text("email") { $0.invitation.email },
    .markup("role") {
      $0.invitation.grant.place(until: $0.invitation.grantEndsAt, $0.frame.times)
    },
    .markup("until") { $0.frame.times.moment($0.invitation.expiresAt) },
    .text("done") { _ in ConsolePaths.administrators() },
  ]
}
