import Database

/// The email to owners about a change that weakened the MFA policy of a project or tenant.
struct PolicyNotice {
  let scope: Scope
  /// The fields that changed.
  let changes: [PolicyChange]
  /// The name of the actor who changed the policy.
  let by: String
  /// Why; nil when no reason was given.
  let reason: String?
  /// The time of the change.
  let at: Instant

  private var place: String {
    let name = NoticeText.plain(scope.name)
    return scope.tenant == nil ? name : "\(NoticeText.plain(scope.projectName)) / \(name)"
  }

  var subject: String { "\(place): MFA policy weakened" }

  var body: String {
    let lines = changes.map { "  \($0.field.rawValue): \($0.from) → \($0.to)" }
    let why =
      reason.map { "Reason: \(NoticeText.unlinked($0, longest: ActionRequest.longestNote))" }
      ?? "No reason was given."
    return """
      \(NoticeText.unlinked(by)) changed the MFA policy of \(place) on \(at.formatted):

      \(lines.joined(separator: "\n"))

      \(why)

      If you didn't expect this, review the policy and the audit log in the console.

      You're receiving this email because you're an owner.

      """
  }
}

extension Outbox {
  /// The maximum number of owners to notify.
  private static let mostOwners = 20

  /// Emails the owners of a project or tenant, except the author of the change.
  ///
  /// Does nothing without a mail server; the console shows the change anyway.
  func notifyOwners(
    _ notice: PolicyNotice, besides author: Author, _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .protectUsers, around: notice.scope, atMost: Self.mostOwners, connection)
    for owner in owners where owner.id.text != author.actor.id {
      try add(
        OutboxMessage(
          channel: .mail, purpose: "notice-policy-weakened", recipient: owner.email, language: "en",
          subject: notice.subject, body: notice.body,
          expiresAt: notice.at.advanced(bySeconds: Self.noticeLifetime)),
        to: nil, in: notice.scope, at: notice.at, connection)
    }
  }
}
