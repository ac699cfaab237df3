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
  let context: ScopeContext
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

  private var scope: Scope { context.scope }
  private var configuration: MFAConfiguration { policy.configuration }
  private var policyPage: String? {
    context.may(.readPolicy) ? ConsolePaths.policy(scope) : nil
  }
  private var changeOrView: Message {
    context.may(.changePolicy) ? Message("scopes.change-policy") : Message("scopes.view-policy")
  }

  var all: [Attention] {
    reportedChanges
      + alerts.map { alert in
        let evidence = alert.evidence(for: context.signedIn.administrator)
        return Attention(alert.sentence(times), evidence?.text, evidence?.href)
      }
      + unreadable.map { Attention($0.sentence, Message("scopes.view-audit-log"), $0.history) }
      + [
        signInOff, lockedOut, unstated, weakened, drift, off, phonesOff, wide, methods,
        unverified, late, unsent(.mail), unsent(.sms), stale,
      ]
      .compactMap {
        $0
      }
  }

  private var reportedChanges: [Attention] {
    guard !reporting.isEmpty else { return [] }
    let holder = Message.Value.message(Permission.protectUsers.holder)
    guard context.may(.findUsers) else {
      return [
        Attention(
          reporting.count == 1
            ? Message("scopes.a-user-reported", ["holder": holder])
            : Message("scopes.some-users-reported", ["holder": holder]))
      ]
    }
    var lines = reporting.prefix(Self.mostReporting).map { user in
      Attention(
        Message(
          "scopes.user-reported", ["user": .name(Formatted.short(user.label)), "holder": holder]),
        Message("scopes.view-user"), ConsolePaths.user(scope, user.account.text))
    }
    if reporting.count > Self.mostReporting {
      lines.append(Attention(Message("scopes.more-users-reported", ["holder": holder])))
    }
    return lines
  }

  private var signInOff: Attention? {
    guard scope.isDisabled else { return nil }
    return Attention(
      Message("scopes.sign-in-off"), Message("scopes.turn-on-sign-in"),
      context.may(.changeScope) ? ConsolePaths.signInSwitch(scope) : nil, isBad: true)
  }

  private var lockedOut: Attention? {
    guard locked > 0 else { return nil }
    return Attention(
      Message("scopes.users-locked", ["count": .number(locked)]), Message("scopes.show-users"),
      context.may(.findUsers) ? ConsolePaths.users(scope) + "?state=locked" : nil, isBad: true)
  }

  private var unstated: Attention? {
    guard configuration.isUnstated else { return nil }
    return Attention(
      Message("scopes.totp-unset"),
      context.may(.changePolicy)
        ? Message("scopes.set-to-enabled") : Message("scopes.view-policy"), policyPage)
  }

  private var off: Attention? {
    guard !configuration.isTOTPOn, policy.totpUsers > 0 else { return nil }
    let mayChange = context.may(.changePolicy)
    return Attention(
      Message("scopes.totp-off-with-users", ["count": .number(policy.totpUsers)]),
      mayChange ? Message("scopes.turn-on-totp") : Message("scopes.view-policy"),
      mayChange ? policyPage.map(PolicyLinks.turnOn) : policyPage)
  }

  private var phonesOff: Attention? {
    guard !configuration.isSMSOn, policy.phoneUsers > 0 else { return nil }
    return Attention(
      Message("scopes.sms-off-with-users", ["count": .number(policy.phoneUsers)]), changeOrView,
      policyPage)
  }

  private var weakened: Attention? {
    guard let weakened = prerequisites.weakened else { return nil }
    return Attention(weakened.sentence(times), Message("scopes.review-policy"), policyPage)
  }

  private var drift: Attention? {
    if let warning = fileStatus.warning { return Attention(warning) }
    return fileDrift.map {
      Attention(
        PolicyFileText.sentence($0.map(\.field)), Message("scopes.review-policy"), policyPage)
    }
  }

  private var wide: Attention? {
    guard configuration.isWindowWide, let window = configuration.accepted else { return nil }
    return Attention(
      Message(
        "scopes.window-wide",
        [
          "count": .number(window.codes),
          "duration": .message(Formatted.duration(seconds: window.lifetime)),
        ]),
      context.may(.changePolicy)
        ? Message("scopes.narrow-window") : Message("scopes.view-policy"), policyPage)
  }

  private var methods: Attention? {
    guard configuration.isTOTPOn, !prerequisites.allowsSecondFactor else { return nil }
    return Attention(
      prerequisites.signIn.names.isEmpty
        ? Message("scopes.no-sign-in-method")
        : Message(
          "scopes.no-second-factor-method", ["methods": .message(prerequisites.words)]),
      context.may(.changeScope)
        ? Message("scopes.choose-methods") : Message("scopes.view-settings"),
      ConsolePaths.signInMethods(scope))
  }

  private var unverified: Attention? {
    guard prerequisites.unverifiedEmails > 0 else { return nil }
    return Attention(
      Message("scopes.users-unverified", ["count": .number(prerequisites.unverifiedEmails)]),
      Message("scopes.show-users"),
      context.may(.findUsers) ? ConsolePaths.users(scope) + "?state=unverified" : nil)
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
        ? Message("scopes.messages-late", ["count": .number(count)])
        : Message("scopes.messages-late-or-more", ["count": .number(count)]))
  }

  /// Messages of a channel that the server doesn't send.
  private func unsent(_ channel: OutboxEntry.Channel) -> Attention? {
    guard !carries(channel) else { return nil }
    let count = messages.waiting(by: channel)
    let sentence =
      switch (channel, messages.isWhole) {
      case (.mail, true): Message("scopes.messages-pending", ["count": .number(count)])
      case (.mail, false): Message("scopes.messages-pending-or-more", ["count": .number(count)])
      case (.sms, true): Message("scopes.text-messages-pending", ["count": .number(count)])
      case (.sms, false): Message("scopes.text-messages-pending-or-more", ["count": .number(count)])
      }
    return outbox(count, sentence)
  }

  private func outbox(_ count: Int, _ sentence: Message) -> Attention? {
    guard count > 0 else { return nil }
    return Attention(
      sentence, Message("scopes.view-messages"),
      context.may(.findUsers) ? ConsolePaths.messages(scope) + "?show=waiting" : nil)
  }

  private var stale: Attention? {
    if policy.version == 0, !configuration.isTOTPOn {
      return Attention(Message("scopes.policy-never-set"), changeOrView, policyPage)
    }
    let changedAt = policy.changedAt ?? createdAt
    guard changedAt.advanced(bySeconds: Self.year) < now else { return nil }
    return Attention(
      Message("scopes.policy-stale"),
      context.may(.changePolicy)
        ? Message("scopes.review-policy") : Message("scopes.view-policy"), policyPage)
  }
}

extension WeakenedPolicy {
  func sentence(_ times: Times) -> Message {
    let (who, time) = (Message.Value.name(Formatted.short(by)), times.value(at))
    let how = weakenings.dropFirst().reduce(weakenings[0].phrase) { all, next in
      Message("scopes.weakenings", ["all": .message(all), "next": .message(next.phrase)])
    }
    guard let reason else {
      return Message(
        "scopes.policy-weakened", ["who": who, "time": time, "how": .message(how)])
    }
    return Message(
      "scopes.policy-weakened-for-reason",
      [
        "who": who, "time": time, "how": .message(how), "reason": .name(Formatted.short(reason)),
      ])
  }
}

extension PolicyWeakening {
  var phrase: Message {
    switch self {
    case .factorDisabled(.totp): return Message("scopes.weaker-totp-off")
    case .factorDisabled(.phone): return Message("scopes.weaker-sms-off")
    case .widerWindow(let from, let to):
      func codes(_ intervals: Int) -> Int { 2 * intervals + 1 }
      return Message(
        "scopes.weaker-window",
        ["count": .number(codes(to)), "former": .number(codes(from))])
    case .noLongerMandatory: return Message("scopes.weaker-not-mandatory")
    case .looserPattern(_, let to):
      let pattern = PatternText.name(to, from: nil) ?? Message("scopes.no-pattern")
      return Message("scopes.weaker-pattern", ["pattern": .message(pattern)])
    case .laterStart(_, let to):
      return Message("scopes.weaker-start", ["day": Times.value(to)])
    case .looserEnforcement(_, nil): return Message("scopes.weaker-enforcement-off")
    case .looserEnforcement(_, let to?):
      return Message("scopes.weaker-enforcement", ["enforcement": .message(to.message)])
    }
  }
}
