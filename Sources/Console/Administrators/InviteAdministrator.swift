import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/administrators/new`: creates a single-use invite link for a new administrator.
struct InviteAdministrator: FormAction {
  let identity: Identity
  let publicURL: PublicURL
  let created: Template<CreatedInvitationView>
  let action = ConsoleAction.inviteAdministrator

  private static let crumbs = [
    Link(text: Message("Administrators"), href: ConsolePaths.administrators())
  ]

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let places = try await Places(identity: identity).few(for: target.signedIn.administrator)
    let off = try await identity.consoleProviders.breakGlassAccount()
    let title = Message("New administrator")
    var page = FormPage(
      title: Message("{title} · Administrators", ["title": .message(title)]), crumbs: Self.crumbs,
      heading: title,
      lead: Message(
        """
        Creates an invite link for you to share. Single use, expires in 7 days or when the role \
        ends, whichever comes first. Anyone with the link can set the password.
        """),
      fields: [
        .line(
          "email", Message("Email"), hint: Message("Used to sign in. No email is sent."),
          #" type="email" autocomplete="off""#),
        .line("name", Message("Name")),
      ]
        + GrantAnswers(target.form).fields(
          in: places, try target.signedIn.formTimes, at: identity.clock.now()),
      button: Message("Create invite link"), back: ConsolePaths.administrators())
    if off != nil {
      page.obstacle = FormObstacle(
        sentence: Message(
          """
          Invitations can’t be accepted while password sign-in is off. Add the person to a group \
          at the sign-in provider, or turn password sign-in on.
          """),
        link: Link(text: Message("Change password sign-in"), href: ConsolePaths.signInProvider()))
    }
    return page
  }

  /// Returns the role, and when it ends.
  func input(_ target: FormTarget<SignedIn>) throws -> (grant: Grant, end: Instant?) {
    let answers = GrantAnswers(target.form)
    var errors: [FieldError] = []
    if target.form.trimmed("email").isEmpty {
      errors.append(FieldError(field: "email", text: Message("Enter the person’s email address.")))
    }
    if target.form.trimmed("name").isEmpty {
      errors.append(FieldError(field: "name", text: Message("Enter the person’s name.")))
    }
    let (grant, faults) = answers.grant()
    let (end, endFaults) = answers.end(try target.signedIn.formTimes)
    errors += faults + endFaults
    guard errors.isEmpty, let grant else { throw InvalidInput.fields(errors) }
    return (grant, end)
  }

  func perform(
    _ input: (grant: Grant, end: Instant?), _ target: FormTarget<SignedIn>,
    _ request: ActionRequest
  ) async throws -> FormEnd {
    let outcome = try await identity.invitations.invite(
      email: target.form.trimmed("email"), displayName: target.form.trimmed("name"),
      grant: input.grant, until: input.end, request)
    let new = outcome.value
    let query: Form = ["token": new.token.revealedText]
    let link = publicURL.origin + query.query(of: ConsolePaths.invitation())
    // The server stores only a digest of its token, so it can't be shown again.
    return FormEnd(
      title: Message("{title} · Administrators", ["title": .message(Message("Invitation"))]),
      crumbs: Self.crumbs, after: outcome
    ) { [created] frame in
      created.render(
        CreatedInvitationView(
          frame: frame, invitation: new.invitation, isReplacement: new.isReplacement, link: link))
    }
  }

  func fault(_ error: ManagementError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    try error.fault(GrantAnswers(target.form))
  }
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
