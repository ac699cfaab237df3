import HTTP
import Identity
import Localization

/// `/invitations/{id}/removal`: revokes an invitation.
struct RevokeInvitation: FormAction {
  let invitations: Invitations
  let action = ConsoleAction.revokeInvitation

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

  func perform(
    _ input: Void, _ target: FormTarget<SignedIn>, _ request: ActionRequest
  ) async throws -> FormEnd {
    let outcome = try await invitations.revoke(ID(target.object), request)
    return FormEnd(
      Message("Invitation revoked. Its link no longer works."), at: ConsolePaths.administrators(),
      after: outcome)
  }

  func fault(
    _ error: ManagementError, _ target: FormTarget<SignedIn>
  ) throws -> FieldError {
    guard case .notFound = error else { return try error.fault(GrantAnswers()) }
    throw target.elsewhere(
      ConsolePaths.administrators(),
      saying: Message("No changes made. The invitation is no longer active."))
  }
}
