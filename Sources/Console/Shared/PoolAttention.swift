import Identity
import Localization
import OTP

/// What needs attention in one pool, on its overview.
struct PoolAttention {
  let context: PoolContext
  let policy: Policy
  let prerequisites: PolicyPrerequisites
  let createdAt: Instant
  let now: Instant
  let messages: MessageCounts
  let carriesMail: Bool
  let carriesText: Bool
  /// The enrolled users who have no way to sign in; nil if there are none.
  let leftOutside: LeftOutside?
  /// The number of users whose codes aren't checked.
  let locked: Int
  /// Users who reported a change that they didn't make; one more than `mostReporting`.
  let reporting: [ReportingUser]

  let alerts: [Alert]

  let fileDrift: [PolicyChange]?

  let fileStatus: PolicyFileStatus

  /// Stored secrets of the pool that can't be decrypted; empty unless the administrator is an owner.
  let unreadable: [UnreadableSecrets.Group]

  /// The maximum number of reporting users shown by name.
  static let mostReporting = 3

  private static let year: Int64 = 365 * 86_400

  private var pool: Pool { context.pool }
  private var times: Times { context.signedIn.times }
  private var configuration: MFAConfiguration { policy.configuration }

  var items: [AttentionItem] {
    var items = AttentionItems(for: context.signedIn.administrator)
    func add(_ kind: AttentionKind, _ sentence: Message, found: Link? = nil) {
      items.add(kind, in: .pool(pool), sentence, found: found) { $0.name = nil }
    }
    for report in reports { add(.reported, report.sentence, found: report.user) }
    for alert in alerts {
      add(
        AttentionKind(alert.kind), alert.sentence(times),
        found: alert.evidence(for: context.signedIn.administrator))
    }
    for group in unreadable {
      add(
        .unreadable, group.sentence,
        found: Link(text: Message("View audit log"), href: group.history))
    }
    if pool.isDisabled {
      add(.signInOff, Message("Sign-in is turned off: no one in this user pool can sign in."))
    }
    if let leftOutside { add(.leftOutside, leftOutside.finding) }
    if locked > 0 {
      add(
        .lockedOut,
        Message(
          one: "{count} user is locked out after too many incorrect codes.",
          other: "{count} users are locked out after too many incorrect codes.",
          ["count": .number(locked)]))
    }
    for warning in warnings { add(warning.kind, warning.sentence(times)) }
    if let warning = fileStatus.warning {
      add(.policyFile, warning)
    } else if let fileDrift {
      add(.fileDrift, PolicyFileText.sentence(fileDrift.map(\.field)))
    }
    if configuration.isWindowWide, let window = configuration.accepted { add(.wide, wide(window)) }
    if configuration.isTOTPOn, !prerequisites.allowsSecondFactor { add(.methods, methods) }
    if policy.version == 0, !configuration.isTOTPOn {
      add(.neverOn, Message("TOTP is off."))
    } else if (policy.changedAt ?? createdAt).advanced(bySeconds: Self.year) < now {
      add(.stale, Message("This policy hasn’t changed in more than a year."))
    }
    if prerequisites.unverifiedEmails > 0 { add(.unverified, unverified) }
    if let late { add(.late, late) }
    for channel in [OutboxEntry.Channel.mail, .sms] where !carries(channel) {
      if let unsent = unsent(channel) { add(.unsent, unsent) }
    }
    return items.sorted
  }

  private var warnings: [PoolWarning.Reason] {
    [
      configuration.isUnstated ? .stateNotGiven : nil,
      prerequisites.weakened.map { .weakened($0) },
      !configuration.isTOTPOn && policy.totpUsers > 0 ? .enrolledWhileOff(policy.totpUsers) : nil,
      !configuration.isSMSOn && policy.phoneUsers > 0 ? .phonesWhileOff(policy.phoneUsers) : nil,
    ].compactMap { $0 }
  }

  private var reports: [(sentence: Message, user: Link?)] {
    let roles = Permission.protectUsers.roleNames
    let named = context.may(.findUsers) ? reporting.prefix(Self.mostReporting) : []
    var reports: [(sentence: Message, user: Link?)] = named.map {
      (
        Message(
          """
          {user} reported a change that they didn’t make. Their account is locked until the report \
          is reviewed, which requires the {roles} role.
          """, ["user": .name(Formatted.short($0.label)), "roles": roles]),
        Link(text: Message("View user"), href: ConsolePaths.user(pool, $0.account.text))
      )
    }
    if reporting.count > named.count {
      let sentence =
        named.isEmpty
        ? Message(
          """
          Users reported changes that they didn’t make. Their accounts are locked until the \
          reports are reviewed, which requires the {roles} role.
          """, ["roles": roles])
        : Message(
          """
          More users reported changes that they didn’t make. Their accounts are locked until the \
          reports are reviewed, which requires the {roles} role.
          """, ["roles": roles])
      reports.append((sentence, nil))
    }
    return reports
  }

  private func wide(_ window: Window) -> Message {
    Message(
      one: "Wide code acceptance window: {count} valid code at any moment, each for {duration}.",
      other: """
        Wide code acceptance window: {count} valid codes at any moment, each for {duration}.
        """,
      [
        "count": .number(window.codes),
        "duration": .message(Formatted.duration(seconds: window.lifetime)),
      ])
  }

  private var methods: Message {
    prerequisites.signIn.names.isEmpty
      ? Message("No sign-in method is enabled, so users can’t enroll.")
      : Message(
        """
        Only sign-in methods that don’t support a second factor are enabled ({methods}), so \
        users can’t enroll.
        """, ["methods": .message(prerequisites.words)])
  }

  private var unverified: Message {
    Message(
      one: """
        {count} user has an unverified email address and can’t enroll a second factor until \
        it’s verified.
        """,
      other: """
        {count} users have an unverified email address and can’t enroll a second factor until \
        it’s verified.
        """, ["count": .number(prerequisites.unverifiedEmails)])
  }

  private func carries(_ channel: OutboxEntry.Channel) -> Bool {
    channel == .mail ? carriesMail : carriesText
  }

  /// Messages that the server fails to send.
  private var late: Message? {
    let channels = [OutboxEntry.Channel.mail, .sms].filter(carries)
    let count = channels.reduce(0) { $0 + messages.late(by: $1) }
    guard count > 0 else { return nil }
    return messages.isWhole
      ? Message(
        one: "{count} message failed to send and is being retried.",
        other: "{count} messages failed to send and are being retried.", ["count": .number(count)]
      )
      : Message(
        one: "{count} or more messages failed to send and are being retried.",
        other: "{count} or more messages failed to send and are being retried.",
        ["count": .number(count)])
  }

  /// Messages of a channel that the server doesn't send.
  private func unsent(_ channel: OutboxEntry.Channel) -> Message? {
    let count = messages.waiting(by: channel)
    guard count > 0 else { return nil }
    return switch (channel, messages.isWhole) {
    case (.mail, true):
      Message(
        one: "{count} message is pending, and email isn’t set up.",
        other: "{count} messages are pending, and email isn’t set up.",
        ["count": .number(count)])
    case (.mail, false):
      Message(
        one: "{count} or more messages are pending, and email isn’t set up.",
        other: "{count} or more messages are pending, and email isn’t set up.",
        ["count": .number(count)])
    case (.sms, true):
      Message(
        one: "{count} text message is pending, and no gateway for text messages is configured.",
        other:
          "{count} text messages are pending, and no gateway for text messages is configured.",
        ["count": .number(count)])
    case (.sms, false):
      Message(
        one: """
          {count} or more text messages are pending, and no gateway for text messages is \
          configured.
          """,
        other: """
          {count} or more text messages are pending, and no gateway for text messages is \
          configured.
          """, ["count": .number(count)])
    }
  }
}
