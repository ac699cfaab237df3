import Identity
import OTP
import Templating

/// An item that needs attention in a user pool, with the link to resolve it.
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

/// Decides what needs attention in a user pool.
struct AttentionRules {
  let context: ScopeContext
  let policy: Policy
  let prerequisites: PolicyPrerequisites
  let createdAt: Instant
  let now: Instant
  let messages: (waiting: Int, late: Int)
  let carriesMail: Bool
  /// Users who reported a change that they didn't make; one more than `mostReporting`.
  let reporting: [ReportingUser]

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

  var all: [Attention] {
    reportedChanges
      + unreadable.map { Attention($0.sentence, "View audit log", $0.history) }
      + [signInOff, unstated, weakened, off, phonesOff, wide, methods, unverified, outbox, stale]
      .compactMap {
        $0
      }
  }

  private var reportedChanges: [Attention] {
    guard !reporting.isEmpty else { return [] }
    let rest =
      "reported a change to their second factors that they didn’t make. Their second factors are locked until \(Permission.protectUsers.holder) reviews the report."
    guard context.may(.findUsers) else {
      return [Attention(reporting.count == 1 ? "A user \(rest)" : "Some users \(rest)")]
    }
    var lines = reporting.prefix(Self.mostReporting).map { user in
      Attention(
        "\(Words.isolated(user.label)) \(rest)", "View user",
        ConsolePaths.user(scope, user.account.text))
    }
    if reporting.count > Self.mostReporting { lines.append(Attention("More users \(rest)")) }
    return lines
  }

  private var signInOff: Attention? {
    guard scope.isDisabled else { return nil }
    return Attention(
      "Sign-in is turned off: no users of this user pool can sign in.", "Turn on sign-in…",
      context.may(.changeScope) ? ConsolePaths.signInSwitch(scope) : nil)
  }

  private var unstated: Attention? {
    guard configuration.isUnstated else { return nil }
    return Attention(
      "TOTP state is unset (treated as enabled).",
      context.may(.changePolicy) ? "Set to Enabled" : "View policy", policyPage)
  }

  private var off: Attention? {
    guard !configuration.isTOTPOn, policy.totpUsers > 0 else { return nil }
    let users = Words.count(
      policy.totpUsers, "user with a factor isn’t", "users with a factor aren’t")
    let mayChange = context.may(.changePolicy)
    return Attention(
      "TOTP is off: \(users) asked for codes.",
      mayChange ? "Turn on TOTP…" : "View policy",
      mayChange ? policyPage.map(PolicyLinks.turnOn) : policyPage)
  }

  private var phonesOff: Attention? {
    guard !configuration.isSMSOn, policy.phoneUsers > 0 else { return nil }
    let users = Words.count(
      policy.phoneUsers, "user with a phone isn’t", "users with a phone aren’t")
    return Attention(
      "SMS codes are off: \(users) asked for codes.",
      context.may(.changePolicy) ? "Change policy" : "View policy", policyPage)
  }

  private var weakened: Attention? {
    guard let weakened = prerequisites.weakened else { return nil }
    return Attention(weakened.sentence(times), "Review policy", policyPage)
  }

  private var wide: Attention? {
    guard configuration.isWindowWide, let window = configuration.accepted else { return nil }
    return Attention(
      "Wide code acceptance window: \(window.codes) valid codes at any moment, each for \(Words.duration(seconds: window.lifetime)).",
      context.may(.changePolicy) ? "Narrow window" : "View policy", policyPage)
  }

  private var methods: Attention? {
    guard configuration.isTOTPOn, !prerequisites.allowsSecondFactor else { return nil }
    return Attention(
      prerequisites.signIn.names.isEmpty
        ? "No sign-in method is enabled, so users can’t enroll."
        : "Only sign-in methods that don’t support a second factor are enabled (\(prerequisites.words)), so users can’t enroll.",
      context.may(.changeScope) ? "Choose methods" : "View settings",
      ConsolePaths.settings(scope))
  }

  private var unverified: Attention? {
    guard prerequisites.unverifiedEmails > 0 else { return nil }
    let users = Words.count(
      prerequisites.unverifiedEmails, "user has an unverified email address",
      "users have an unverified email address")
    return Attention(
      "\(users) and can’t enroll a second factor until it’s verified.", "Show users",
      context.may(.findUsers) ? ConsolePaths.users(scope) + "?state=unverified" : nil)
  }

  private var outbox: Attention? {
    let (many, verb) =
      carriesMail
      ? (messages.late, "couldn’t be sent yet")
      : (messages.waiting, "pending, and no mail server is set up")
    guard many > 0 else { return nil }
    let count =
      many >= OutboxEntries.mostCounted
      ? "\(Words.number(many)) or more messages" : Words.count(many, "message", "messages")
    let sentence =
      carriesMail
      ? "\(count) \(verb)." : "\(count) \(many == 1 ? "is" : "are") \(verb)."
    return Attention(
      sentence, "View messages",
      context.may(.findUsers) ? ConsolePaths.outbox(scope) + "?show=waiting" : nil)
  }

  private var stale: Attention? {
    let verb = context.may(.changePolicy) ? "Change policy" : "View policy"
    if policy.version == 0, !configuration.isTOTPOn {
      return Attention(
        "This policy has never been set: TOTP has been off since the \(scope.kindInSentence) was created.",
        verb, policyPage)
    }
    let changedAt = policy.changedAt ?? createdAt
    guard changedAt.advanced(bySeconds: Self.year) < now else { return nil }
    return Attention(
      "This policy hasn’t changed in more than a year.",
      context.may(.changePolicy) ? "Review policy" : "View policy", policyPage)
  }
}

extension WeakenedPolicy {
  /// Says who weakened the policy, when, how, and why.
  func sentence(_ times: Times) -> String {
    let how = weakenings.map { $0.phrase(times) }.joined(separator: "; ")
    let why = reason.map { " Reason: \(Words.isolated($0))" } ?? ""
    return
      "\(Words.isolated(by)) weakened the MFA policy on \(times.words(at)): \(how).\(why)"
  }
}

extension PolicyWeakening {
  /// Describes what is weaker.
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
    case .laterStart(_, let to): return "enrollment is mandatory only from \(Times.words(to))"
    }
  }
}
