import Identity
import Templating

/// Something about a pool that somebody should look at, and the link to mend it.
struct Attention: ViewModel {
  let sentence: String
  let verb: String?
  let href: String?

  init(_ sentence: String, _ verb: String? = nil, _ href: String? = nil) {
    self.sentence = sentence
    self.verb = href == nil ? nil : verb
    self.href = href
  }

  static let keys: Keys<Self> = [
    .text("sentence") { $0.sentence },
    .text("verb") { $0.verb },
    .text("href") { $0.href },
  ]
}

/// What wants attention in a pool.
struct AttentionRules {
  let context: ScopeContext
  let policy: Policy
  let prerequisites: PolicyPrerequisites
  let createdAt: Instant
  let now: Instant
  let messages: (waiting: Int, late: Int)
  let carriesMail: Bool
  /// Users who said that a change was none of theirs, one more than are named.
  let reporting: [ReportingUser]

  /// Stored secrets of the pool that can't be opened; none for those who aren't owners.
  let unreadable: [UnreadableSecrets.Group]

  /// How many such users are named.
  static let mostReporting = 3

  private var times: Times { context.signedIn.times }

  private static let year: Int64 = 365 * 86_400

  private var scope: Scope { context.scope }
  private var configuration: MFAConfiguration { policy.configuration }
  private var policyPage: String? {
    context.may(.readPolicy) ? ConsolePaths.policy(scope) : nil
  }

  var all: [Attention] {
    reportedChanges
      + unreadable.map { Attention($0.sentence, "See the audit log", $0.history) }
      + [signInOff, unstated, weakened, off, phonesOff, wide, methods, unverified, outbox, stale]
      .compactMap {
        $0
      }
  }

  private var reportedChanges: [Attention] {
    guard !reporting.isEmpty else { return [] }
    let rest =
      "said that a change of second factors was none of theirs; nothing is changed until an owner has looked at it."
    guard context.may(.findUsers) else {
      return [Attention(reporting.count == 1 ? "A user \(rest)" : "Some users \(rest)")]
    }
    var lines = reporting.prefix(Self.mostReporting).map { user in
      Attention(
        "\(Words.isolated(user.label)) \(rest)", "See the user",
        ConsolePaths.user(scope, user.account.text))
    }
    if reporting.count > Self.mostReporting { lines.append(Attention("More users \(rest)")) }
    return lines
  }

  private var signInOff: Attention? {
    guard scope.isDisabled else { return nil }
    return Attention(
      "Sign-in is switched off here: nobody of this user pool gets in.", "Switch it on…",
      context.may(.changeScope) ? ConsolePaths.signInSwitch(scope) : nil)
  }

  private var unstated: Attention? {
    guard configuration.isUnstated else { return nil }
    return Attention(
      "TOTP is on, but the configuration does not say so.",
      context.may(.changePolicy) ? "Make it explicit" : "See the policy", policyPage)
  }

  private var off: Attention? {
    guard !configuration.isTOTPOn, policy.totpUsers > 0 else { return nil }
    let users = Words.count(policy.totpUsers, "user has a factor", "users have a factor")
    let mayChange = context.may(.changePolicy)
    return Attention(
      "TOTP is off: \(users) that nobody asks for.",
      mayChange ? "Turn TOTP on…" : "See the policy",
      mayChange ? policyPage.map(PolicyLinks.turnOn) : policyPage)
  }

  private var phonesOff: Attention? {
    guard !configuration.isSMSOn, policy.phoneUsers > 0 else { return nil }
    let users = Words.count(policy.phoneUsers, "user has a phone", "users have a phone")
    return Attention(
      "Codes by SMS are off: \(users) that gets none.",
      context.may(.changePolicy) ? "Decide it" : "See the policy", policyPage)
  }

  private var weakened: Attention? {
    guard let weakened = prerequisites.weakened else { return nil }
    return Attention(weakened.sentence(times), "Review the policy", policyPage)
  }

  private var wide: Attention? {
    guard configuration.isWindowWide, let window = configuration.accepted else { return nil }
    return Attention(
      "The window is wide: \(window.codes) codes count at once, each for \(Words.duration(seconds: window.lifetime)).",
      context.may(.changePolicy) ? "Narrow it" : "See the policy", policyPage)
  }

  private var methods: Attention? {
    guard configuration.isTOTPOn, !prerequisites.allowsSecondFactor else { return nil }
    return Attention(
      prerequisites.signIn.names.isEmpty
        ? "No sign-in method is on, so nobody can enroll."
        : "Only sign-ins without a second factor are on (\(prerequisites.words)), so nobody can enroll.",
      context.may(.changeScope) ? "Choose methods" : "See the settings",
      ConsolePaths.settings(scope))
  }

  private var unverified: Attention? {
    guard prerequisites.unverifiedEmails > 0 else { return nil }
    let users = Words.count(
      prerequisites.unverifiedEmails, "user has an email address that is",
      "users have an email address that is")
    return Attention(
      "\(users) not verified, and cannot enroll a second factor before it is.", "See who",
      context.may(.findUsers) ? ConsolePaths.users(scope) + "?state=unverified" : nil)
  }

  private var outbox: Attention? {
    let (many, verb) =
      carriesMail
      ? (messages.late, "could not be sent so far")
      : (messages.waiting, "for a user, and no mail server is set up")
    guard many > 0 else { return nil }
    let count =
      many >= OutboxEntries.mostCounted
      ? "\(Words.number(many)) and more messages" : Words.count(many, "message", "messages")
    let sentence =
      carriesMail
      ? "\(count) \(verb)." : "\(count) \(many == 1 ? "waits" : "wait") \(verb)."
    return Attention(
      sentence, "See the outbox",
      context.may(.findUsers) ? ConsolePaths.outbox(scope) + "?show=waiting" : nil)
  }

  private var stale: Attention? {
    let verb = context.may(.changePolicy) ? "Decide it" : "See the policy"
    if policy.version == 0, !configuration.isTOTPOn {
      return Attention(
        "Nobody has decided this policy yet: TOTP is off since the \(scope.kindInSentence) was made.",
        verb, policyPage)
    }
    let changedAt = policy.changedAt ?? createdAt
    guard changedAt.advanced(bySeconds: Self.year) < now else { return nil }
    return Attention(
      "This policy is as it was more than a year ago.",
      context.may(.changePolicy) ? "Look at it again" : "See the policy", policyPage)
  }
}

extension WeakenedPolicy {
  /// Who weakened the policy, when, how, and why.
  func sentence(_ times: Times) -> String {
    let how = weakenings.map { $0.phrase(times) }.joined(separator: "; ")
    let why = reason.map { " Reason: \(Words.isolated($0))" } ?? ""
    return
      "\(Words.isolated(by)) weakened the MFA policy on \(times.words(at)): \(how).\(why)"
  }
}

extension PolicyWeakening {
  /// What is weaker.
  func phrase(_ times: Times) -> String {
    switch self {
    case .factorDisabled(.totp): return "TOTP is off"
    case .factorDisabled(.phone): return "SMS is off"
    case .widerWindow(let from, let to):
      func codes(_ intervals: Int) -> Int { 2 * intervals + 1 }
      return "\(Words.count(codes(to), "valid code", "valid codes")) instead of \(codes(from))"
    case .noLongerMandatory: return "MFA is no longer mandatory"
    case .looserPattern(_, let to):
      let pattern = PatternWords.name(to, from: nil) ?? "none"
      return "the enrollment pattern is now “\(pattern)”"
    case .laterStart(_, let to): return "enrollment is mandatory from \(Times.words(to)) only"
    }
  }
}
