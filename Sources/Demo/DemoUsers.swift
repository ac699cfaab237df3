import Crypto
import Identity
import OTP

/// A demo user before it's stored.
struct DemoUser: Sendable {
  let uid: String
  let name: String
  let email: String
  let phone: String?
  let verified: Bool
  let disabled: Bool
  let hasPassword: Bool
  let device: String
  /// When the account is created.
  let madeAt: Instant
  /// When the second factor is enrolled; nil for never.
  let enrolledAt: Instant?
  /// Replaced together with the factor when the user gets a new device.
  var secret: Secret
  var factor: String
  /// When the user last signed in; nil for never.
  let lastSeen: Instant?
  /// Whether the last sign-in left a session.
  let staysSignedIn: Bool

  var new: NewAccount {
    var new = NewAccount()
    new.localID = uid
    new.email = email
    new.displayName = name
    new.phoneNumber = phone
    new.emailVerified = verified
    new.disabled = disabled
    return new
  }
}

/// Generates random users, each with a unique email and phone number.
struct DemoUsers {
  private let random: DemoRandom
  private let now: Instant
  private var addresses: [String: Int] = [:]
  private var phones = 0

  init(random: DemoRandom, now: Instant) {
    self.random = random
    self.now = now
  }

  /// Generates the users of a pool: nine of ten from before the month, the others within it.
  mutating func draw(for pool: DemoPool) -> [DemoUser] {
    (0..<pool.plan.users).map { _ in user(of: pool) }
  }

  private mutating func user(of pool: DemoPool) -> DemoUser {
    let script = script(pool.plan.writing)
    let (given, family) = (random.one(of: script.given), random.one(of: script.family))
    let name =
      script.familyFirst
      ? family.written + script.joint + given.written
      : given.written + script.joint + family.written
    let month = now.advanced(bySeconds: -Demo.days * 86_400)
    let isNew = random.happens(90)
    let madeAt =
      isNew ? moment(after: month, before: now) : moment(after: pool.madeAt, before: month)
    let verified = random.happens(940)
    let disabled = random.happens(18)
    let enrolls = verified && random.happens(min(pool.plan.enrolled * 1_064 / 100, 1_000))
    var enrolledAt: Instant?
    if enrolls {
      // Of the earlier users, one in twelve enrolls within the month.
      let late = isNew || random.happens(80)
      enrolledAt =
        late
        ? moment(after: max(madeAt, month), before: now) : moment(after: madeAt, before: month)
    }
    var lastSeen: Instant?
    if random.happens(870) { lastSeen = moment(after: max(madeAt, month), before: now) }
    return DemoUser(
      uid: random.source.text(AccountRules.uidLength, from: AccountRules.uidAlphabet), name: name,
      email: address(given.spelt, family.spelt), phone: phone(), verified: verified,
      disabled: disabled, hasPassword: random.happens(860), device: random.one(of: script.devices),
      madeAt: madeAt, enrolledAt: enrolledAt,
      secret: Secret(random.bytes(TOTPFactor.secretLength)), factor: random.source.uuid(),
      lastSeen: lastSeen, staysSignedIn: random.happens(650))
  }

  private func script(_ writing: DemoPlan.Writing) -> DemoNames.Script {
    let lot = random.below(100)
    return switch writing {
    case .latin: lot < 96 ? DemoNames.latin : DemoNames.arabic
    case .arabic: lot < 62 ? DemoNames.arabic : DemoNames.latin
    case .devanagari: lot < 64 ? DemoNames.devanagari : DemoNames.latin
    case .chinese: lot < 70 ? DemoNames.chinese : DemoNames.latin
    case .mixed:
      switch lot {
      case ..<46: DemoNames.latin
      case ..<64: DemoNames.arabic
      case ..<82: DemoNames.devanagari
      default: DemoNames.chinese
      }
    }
  }

  private mutating func address(_ given: String, _ family: String) -> String {
    let stem = "\(given).\(family)"
    let count = addresses[stem, default: 0] + 1
    addresses[stem] = count
    return "\(stem)\(count == 1 ? "" : String(count))@\(random.one(of: DemoNames.domains))"
  }

  /// Returns a number reserved for fictional use: 555-0100 to 555-0199 of each North American area
  /// code.
  private mutating func phone() -> String? {
    guard random.happens(310) else { return nil }
    phones += 1
    let (area, line) = (210 + phones / 100, phones % 100)
    return "+1\(area)55501\(line < 10 ? "0" : "")\(line)"
  }

  private func moment(after start: Instant, before end: Instant) -> Instant {
    let seconds = max(end.seconds - start.seconds - 120, 1)
    return min(start.advanced(bySeconds: 60 + random.number(0...seconds)), end)
  }
}
