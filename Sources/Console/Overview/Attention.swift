import Identity
import Localization
import MailText
import OTP
import Templating

struct Attention: ViewModel {
  let sentence: Message
  let verb: Message?
  let href: String?
  /// Whether users can't sign in because of it.
  let isBad: Bool

  init(
    _ sentence: Message, _ verb: Message? = nil, _ href: String? = nil, isBad: Bool = false
  ) {
    self.sentence = sentence
    self.isBad = isBad
    self.verb = href == nil ? nil : verb
    self.href = href
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .text(\.verb),
    .text(\.href),
    .flag(\.isBad),
  ]
}

struct AttentionRules {
  let context: PoolContext
  let policy: Policy
  let prerequisites: PolicyPrerequisites
  let createdAt: Instant
  let now: Instant
  let messages: MessageCounts
  let carriesMail: Bool
  let carriesText: Bool
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

  private var times: Times { context.signedIn.times }

  private static let year: Int64 = 365 * 86_400

  private var pool: Pool { context.pool }
  private var configuration: MFAConfiguration { policy.configuration }
  private var policyPage: String? {
    context.may(.readPolicy) ? ConsolePaths.policy(pool) : nil
  }
  private var changeOrView: Message {
    context.may(.changePolicy) ? Message("Change policy") : Message("View policy")
  }

  var all: [Attention] {
    reportedChanges
      + alerts.map { alert in
        let evidence = alert.evidence(for: context.signedIn.administrator)
        return Attention(alert.sentence(times), evidence?.text, evidence?.href)
      }
      + unreadable.map { Attention($0.sentence, Message("View audit log"), $0.history) }
      + [signInOff, lockedOut].compactMap { $0 } + ofPolicy
      + [unverified, late, unsent(.mail), unsent(.sms)].compactMap { $0 }
  }

  /// Empty for those who neither change nor review the policy.
  private var ofPolicy: [Attention] {
    guard context.signedIn.administrator.minds(pool.project, pool.tenant) else { return [] }
    return [unstated, weakened, drift, off, phonesOff, wide, methods, stale].compactMap { $0 }
  }

  private var reportedChanges: [Attention] {
    guard !reporting.isEmpty else { return [] }
    let roles = Permission.protectUsers.roleNames
    guard context.may(.findUsers) else {
      return [
        Attention(
          reporting.count == 1
            ? Message(
              """
              A user reported a change to their second factors that they didn’t make. Their \
              second factors are locked until the report is reviewed, which requires the \
              {roles} role.
              """, ["roles": roles])
            : Message(
              """
              Some users reported a change to their second factors that they didn’t make. Their \
              second factors are locked until the report is reviewed, which requires the \
              {roles} role.
              """, ["roles": roles]))
      ]
    }
    var lines = reporting.prefix(Self.mostReporting).map { user in
      Attention(
        Message(
          """
          {user} reported a change to their second factors that they didn’t make. Their second \
          factors are locked until the report is reviewed, which requires the {roles} role.
          """, ["user": .name(Formatted.short(user.label)), "roles": roles]),
        Message("View user"), ConsolePaths.user(pool, user.account.text))
    }
    if reporting.count > Self.mostReporting {
      lines.append(
        Attention(
          Message(
            """
            More users reported a change to their second factors that they didn’t make. Their \
            second factors are locked until the report is reviewed, which requires the \
            {roles} role.
            """, ["roles": roles])))
    }
    return lines
  }

  private var signInOff: Attention? {
    guard pool.isDisabled else { return nil }
    return Attention(
      Message("Sign-in is turned off: no one in this user pool can sign in."),
      Message("Turn on sign-in…"),
      context.may(.changePool) ? ConsolePaths.signInSwitch(pool) : nil, isBad: true)
  }

  private var lockedOut: Attention? {
    guard locked > 0 else { return nil }
    return Attention(
      Message(
        one: "{count} user is locked out after too many incorrect codes.",
        other: "{count} users are locked out after too many incorrect codes.",
        ["count": .number(locked)]), Message("Show users"),
      context.may(.findUsers) ? ConsolePaths.users(pool) + "?state=locked" : nil, isBad: true)
  }

  private var unstated: Attention? {
    guard configuration.isUnstated else { return nil }
    return Attention(
      Message("TOTP state is unset (treated as enabled)."),
      context.may(.changePolicy)
        ? Message("Set to Enabled") : Message("View policy"), policyPage)
  }

  private var off: Attention? {
    guard !configuration.isTOTPOn, policy.totpUsers > 0 else { return nil }
    let mayChange = context.may(.changePolicy)
    return Attention(
      Message(
        one: "TOTP is off: {count} user with a factor isn’t asked for codes.",
        other: "TOTP is off: {count} users with a factor aren’t asked for codes.",
        ["count": .number(policy.totpUsers)]),
      mayChange ? Message("Turn on TOTP…") : Message("View policy"),
      mayChange ? policyPage.map(PolicyLinks.turnOn) : policyPage)
  }

  private var phonesOff: Attention? {
    guard !configuration.isSMSOn, policy.phoneUsers > 0 else { return nil }
    return Attention(
      Message(
        one: "SMS codes are off: {count} user with a phone isn’t asked for codes.",
        other: "SMS codes are off: {count} users with a phone aren’t asked for codes.",
        ["count": .number(policy.phoneUsers)]), changeOrView,
      policyPage)
  }

  private var weakened: Attention? {
    guard let weakened = prerequisites.weakened else { return nil }
    return Attention(weakened.sentence(times), Message("Review policy"), policyPage)
  }

  private var drift: Attention? {
    if let warning = fileStatus.warning { return Attention(warning) }
    return fileDrift.map {
      Attention(
        PolicyFileText.sentence($0.map(\.field)), Message("Review policy"), policyPage)
    }
  }

  private var wide: Attention? {
    guard configuration.isWindowWide, let window = configuration.accepted else { return nil }
    return Attention(
      Message(
        one: "Wide code acceptance window: {count} valid code at any moment, each for {duration}.",
        other: """
          Wide code acceptance window: {count} valid codes at any moment, each for {duration}.
          """,
        [
          "count": .number(window.codes),
          "duration": .message(Formatted.duration(seconds: window.lifetime)),
        ]),
      context.may(.changePolicy)
        ? Message("Narrow window") : Message("View policy"), policyPage)
  }

  private var methods: Attention? {
    guard configuration.isTOTPOn, !prerequisites.allowsSecondFactor else { return nil }
    return Attention(
      prerequisites.signIn.names.isEmpty
        ? Message("No sign-in method is enabled, so users can’t enroll.")
        : Message(
          """
          Only sign-in methods that don’t support a second factor are enabled ({methods}), so \
          users can’t enroll.
          """, ["methods": .message(prerequisites.words)]),
      context.may(.changePool)
        ? Message("Choose methods") : Message("View settings"),
      ConsolePaths.signInMethods(pool))
  }

  private var unverified: Attention? {
    guard prerequisites.unverifiedEmails > 0 else { return nil }
    return Attention(
      Message(
        one: """
          {count} user has an unverified email address and can’t enroll a second factor until \
          it’s verified.
          """,
        other: """
          {count} users have an unverified email address and can’t enroll a second factor until \
          it’s verified.
          """, ["count": .number(prerequisites.unverifiedEmails)]),
      Message("Show users"),
      context.may(.findUsers) ? ConsolePaths.users(pool) + "?state=unverified" : nil)
  }

  private func carries(_ channel: OutboxEntry.Channel) -> Bool {
    channel == .mail ? carriesMail : carriesText
  }

  /// Messages that the server fails to send.
  private var late: Attention? {
    let channels = [OutboxEntry.Channel.mail, .sms].filter(carries)
    let count = channels.reduce(0) { $0 + messages.late(by: $1) }
    return outbox(
      count,
      messages.isWhole
        ? Message(
          one: "{count} message failed to send and is being retried.",
          other: "{count} messages failed to send and are being retried.", ["count": .number(count)]
        )
        : Message(
          one: "{count} or more messages failed to send and are being retried.",
          other: "{count} or more messages failed to send and are being retried.",
          ["count": .number(count)]))
  }

  /// Messages of a channel that the server doesn't send.
  private func unsent(_ channel: OutboxEntry.Channel) -> Attention? {
    guard !carries(channel) else { return nil }
    let count = messages.waiting(by: channel)
    let sentence =
      switch (channel, messages.isWhole) {
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
    return outbox(count, sentence)
  }

  private func outbox(_ count: Int, _ sentence: Message) -> Attention? {
    guard count > 0 else { return nil }
    return Attention(
      sentence, Message("View messages"),
      context.may(.findUsers) ? ConsolePaths.messages(pool) + "?show=waiting" : nil)
  }

  private var stale: Attention? {
    if policy.version == 0, !configuration.isTOTPOn {
      let mayChange = context.may(.changePolicy)
      return Attention(
        Message("TOTP is off."), mayChange ? Message("Turn on TOTP…") : Message("View policy"),
        mayChange ? policyPage.map(PolicyLinks.turnOn) : policyPage)
    }
    let changedAt = policy.changedAt ?? createdAt
    guard changedAt.advanced(bySeconds: Self.year) < now else { return nil }
    return Attention(
      Message("This policy hasn’t changed in more than a year."),
      context.may(.changePolicy)
        ? Message("Review policy") : Message("View policy"), policyPage)
  }
}

extension WeakenedPolicy {
  func sentence(_ times: Times) -> Message {
    let (who, time) = (Message.Value.name(Formatted.short(by)), times.value(at))
    let changes = Message.Value.sequence(weakenings.map(\.phrase))
    guard let reason else {
      return Message(
        "Policy weakened: {changes}. {who}, {time}.",
        ["who": who, "time": time, "changes": changes])
    }
    return Message(
      "Policy weakened: {changes}. {who}, {time}. Reason: {reason}",
      [
        "who": who, "time": time, "changes": changes, "reason": .name(Formatted.short(reason)),
      ])
  }
}

extension PolicyWeakening {
  var phrase: Message {
    switch self {
    case .factorDisabled(.totp): return Message("TOTP is off")
    case .factorDisabled(.phone): return Message("SMS is off")
    case .widerWindow(let from, let to):
      func codes(_ intervals: Int) -> Int { 2 * intervals + 1 }
      return Message(
        one: "{former} → {count} valid code", other: "{former} → {count} valid codes",
        ["count": .number(codes(to)), "former": .number(codes(from))])
    case .noLongerMandatory: return Message("MFA is no longer mandatory")
    case .looserPattern(_, let to):
      let pattern = PatternText.name(to, from: nil) ?? Message("none")
      return Message("new enrollment pattern: {pattern}", ["pattern": .message(pattern)])
    case .laterStart(_, let to):
      return Message("enrollment is mandatory only from {day}", ["day": Times.value(to)])
    case .looserEnforcement(_, nil): return Message("the server no longer enforces enrollment")
    case .looserEnforcement(_, let to?):
      return Message(
        "less strict server enforcement: {enforcement}", ["enforcement": .message(to.message)])
    }
  }
}
