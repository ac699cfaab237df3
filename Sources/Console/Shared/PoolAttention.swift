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

  var items: AttentionItems {
    var items = AttentionItems(for: context.signedIn.administrator)
    func add(
      _ kind: AttentionKind, at: Instant? = nil, number: Int64 = 1, _ sentence: Message,
      found: Link? = nil
    ) {
      items.add(
        kind, at: at, since: policy.changedAt, number: number, in: .pool(pool), sentence,
        found: found
      ) { $0.name = nil }
    }
    for report in reports { add(.reported, report.sentence, found: report.user) }
    for alert in alerts {
      add(
        AttentionKind(alert.kind), at: alert.startedAt, number: Int64(alert.count),
        alert.sentence(times),
        found: alert.evidence(for: context.signedIn.administrator))
    }
    for group in unreadable {
      add(
        .unreadable, group.sentence,
        found: Link(text: Message("View audit log"), href: group.history))
    }
    if let leftOutside { add(.leftOutside, leftOutside.finding) }
    for warning in warnings {
      add(warning.kind, at: warning.at, number: warning.number, warning.sentence(times))
    }
    if let warning = fileStatus.warning {
      items.add(.policyFile, number: [].digest, in: .instance, warning)
    } else if let fields = fileDrift?.map(\.field) {
      add(.fileDrift, number: fields.map(\.rawValue).digest, PolicyFileText.sentence(fields))
    }
    if configuration.isWindowWide, let window = configuration.accepted {
      add(.wide, number: Int64(window.adjacentIntervals), wide(window))
    }
    if configuration.isTOTPOn, !prerequisites.allowsSecondFactor { add(.methods, methods) }
    if policy.version == 0, !configuration.isTOTPOn {
      add(.neverOn, Message("TOTP is off."))
    } else if (policy.changedAt ?? createdAt).advanced(bySeconds: Self.year) < now {
      add(.stale, Message("This policy hasn’t changed in more than a year."))
    }
    if prerequisites.unverifiedEmails > 0 {
      add(.unverified, number: Int64(prerequisites.unverifiedEmails), unverified)
    }
    addMessages { add($0, number: $1, $2) }
    return items
  }

  private var warnings: [PoolWarning.Reason] {
    [
      pool.isDisabled && context.offers(.hosting) ? .signInOff : nil,
      locked > 0 ? .lockedOut(locked) : nil,
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

  /// Adds the messages that the server fails to send, and those of channels that it doesn't send.
  private func addMessages(_ add: (AttentionKind, Int64, Message) -> Void) {
    func count(_ kind: AttentionKind, _ count: Int, _ sentence: (Message.Value) -> Message) {
      guard count > 0 else { return }
      let number = Message.counted(count, isCut: !messages.isWhole)
      add(kind, Int64(count), sentence(.message(number)))
    }
    let channels = [OutboxEntry.Channel.mail, .sms]
    count(.late, channels.filter(carries).reduce(0) { $0 + messages.late(by: $1) }) {
      Message("Messages that failed to send and are being retried: {number}", ["number": $0])
    }
    for channel in channels where !carries(channel) {
      count(.unsent, messages.waiting(by: channel)) { number in
        channel == .mail
          ? Message("Email isn’t set up. Messages pending: {number}", ["number": number])
          : Message(
            "No gateway for text messages is configured. Messages pending: {number}",
            ["number": number])
      }
    }
  }
}
