import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/invitation`: creates an administrator account for the person who opens an invite link.
///
/// The token is in the query, which access logs omit. Opening the page doesn't use up the link.
struct InvitationPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<InvitationView>

  func show(_ visitor: Visitor) async throws -> Response {
    let token = visitor.request.target.query.text("token") ?? ""
    let invitation = try await identity.invitations.find(token: token)
    guard let invitation else { return ended(visitor) }
    return try await page(visitor, invitation, token, name: invitation.displayName, errors: [])
  }

  func accept(_ visitor: Visitor) async throws -> Response {
    let request = visitor.request
    let token = visitor.form.text("token") ?? ""
    let name = visitor.form.trimmed("name")
    do {
      let new = try await identity.invitations.accept(
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
      return try await page(visitor, token, name: name, error.fault())
    }
  }

  private func page(
    _ visitor: Visitor, _ token: String, name: String, _ fault: FieldError
  ) async throws -> Response {
    let invitation = try await identity.invitations.find(token: token)
    guard let invitation else { return ended(visitor) }
    return try await page(visitor, invitation, token, name: name, errors: [fault])
  }

  private func page(
    _ visitor: Visitor, _ invitation: Invitation, _ token: String, name: String,
    errors: [FieldError]
  ) async throws -> Response {
    let off = try await identity.consoleProviders.breakGlassAccount()
    let frame = frames.bare(
      Message("Administrator invitation"), for: visitor,
      path: ConsolePaths.invitation(), errors: errors)
    let model = InvitationView(
      frame: FrameView(frame),
      open: OpenInvitation(
        frame: FrameView(frame), invitation: invitation, isPossible: off == nil, token: token,
        name: name))
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), errors: errors))
  }

  private func ended(_ visitor: Visitor) -> Response {
    let frame = frames.bare(
      Message("This invitation is invalid or expired"), for: visitor,
      path: ConsolePaths.invitation())
    let model = InvitationView(frame: FrameView(frame), open: nil)
    return .html(view.render(model), status: .notFound)
  }
}

struct InvitationView: ViewModel {
  let frame: FrameView
  let open: OpenInvitation?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.invitation() },
    .text("signIn") { _ in ConsolePaths.signIn() },
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
    .markup("role") { $0.invitation.grant.place() },
    .markup("roleEnd") { page in
      page.invitation.grantEndsAt.map { page.frame.times.end($0) }
    },
    .markup("until") { $0.frame.times.moment($0.invitation.expiresAt) },
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .text("passwordError") { $0.frame.error(at: "password") },
  ]
}

/// `/invitations/{id}/removal`: revokes an invitation.
struct RevokeInvitation: FormAction {
  static let action = ConsoleAction.revokeInvitation
  static let name = Message("Revoke invitation")
  static let path = Path("invitations", nil, "removal", parameters: String.self)
  let invitations: Invitations

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let all = try await invitations.list()
    guard let invitation = all.first(where: { $0.id.text == target.object }) else {
      throw Refusal.notFound
    }
    let (button, times) = (Message("Revoke invitation"), target.times)
    return FormPage(
      title: Message("{title} · Administrators", ["title": .message(button)]),
      crumbs: [Link(text: Message("Administrators"), href: ConsolePaths.administrators())],
      heading: Message(
        "Revoke the invitation for {name}?",
        ["name": .name(Formatted.short(invitation.displayName))]),
      consequences: [
        Message("The link stops working immediately."),
        Message("To give this person access later, invite them again."),
      ], isQuestion: true, button: button, isDestructive: true,
      keep: Message("Keep invitation"), back: ConsolePaths.administrators(),
      factsHeading: Message("This invitation"),
      facts: [
        Fact(Message("Email"), HTML.isolated(invitation.email)),
        Fact(Message("Role"), invitation.grant.place(until: invitation.grantEndsAt, times)),
        Fact(Message("Invited by"), HTML.isolated(invitation.inviterName)),
        Fact(Message("Expires"), times.moment(invitation.expiresAt)),
      ])
  }

  func perform(_ input: Void, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    do {
      let outcome = try await invitations.revoke(ID(target.object), by: .console(target.request))
      return FormEnd(
        Message("Invitation revoked. Its link no longer works."),
        at: ConsolePaths.administrators(), after: outcome)
    } catch CallError.notFound {
      throw target.elsewhere(
        ConsolePaths.administrators(),
        saying: Message("No changes made. The invitation is no longer active."))
    }
  }

  func fault(_ error: ManagementError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    try error.fault(GrantAnswers())
  }
}

/// `/administrators/new`: creates a single-use invite link for a new administrator.
struct InviteAdministrator: FormAction {
  static let action = ConsoleAction.inviteAdministrator
  static let name = Message("Invite administrator")
  static let path = Path("administrators", "new")
  let identity: Identity
  let publicURL: PublicURL
  let created: Template<CreatedInvitationView>

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
      page.obstacle = Notice(
        Message(
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
    _ input: (grant: Grant, end: Instant?), _ target: FormTarget<SignedIn>
  ) async throws -> FormEnd {
    let outcome = try await identity.invitations.invite(
      email: target.form.trimmed("email"), displayName: target.form.trimmed("name"),
      grant: input.grant, until: input.end, by: .console(target.request))
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
