import Crypto
import Identity

struct DemoUser: Sendable {
  let uid: String
  let email: String
  let new: NewAccount
  let hasPassword: Bool
  let device: String
  let madeAt: Instant
  let enrolledAt: Instant?
  /// Replaced together with the factor when the user gets a new device.
  var secret: Secret
  var factor: String
  let lastSeen: Instant?
}

/// Generates random users, each with a unique email and phone number.
struct DemoUsers {
  let demo: Demo
  private var addresses: [String: Int] = [:]
  private var phones = 0

  init(_ demo: Demo) { self.demo = demo }

  /// Generates the users of a pool: nine of ten from before the month, the others within it.
  mutating func draw(for demoPool: DemoPool) throws -> [DemoUser] {
    try (0..<demoPool.plan.users).map { _ in try user(of: demoPool) }
  }

  private mutating func user(of demoPool: DemoPool) throws -> DemoUser {
    let (random, now, month) = (demo.random, demo.now, demo.month)
    guard let script = script(demoPool.plan.writing) else { throw Failure("an unknown script") }
    let (name, stem) = script.person(random.one)
    let uid = random.source.text(AccountRules.uidLength, from: AccountRules.uidAlphabet)
    let email = address(stem)
    var new = NewAccount()
    new.localID = uid
    new.email = email
    new.displayName = name
    new.phoneNumber = phone()
    new.emailVerified = random.happens(940)
    new.disabled = random.happens(18)
    let isNew = random.happens(90)
    let madeAt =
      isNew ? moment(after: month, before: now) : moment(after: demoPool.madeAt, before: month)
    var (enrolledAt, lastSeen): (Instant?, Instant?)
    if new.emailVerified, random.happens(min(demoPool.plan.enrolled * 1_064 / 100, 1_000)) {
      // Of the earlier users, one in twelve enrolls within the month.
      enrolledAt =
        isNew || random.happens(80)
        ? moment(after: max(madeAt, month), before: now) : moment(after: madeAt, before: month)
    }
    if random.happens(870) { lastSeen = moment(after: max(madeAt, month), before: now) }
    return DemoUser(
      uid: uid, email: email, new: new, hasPassword: random.happens(860),
      device: random.one(of: script.devices), madeAt: madeAt, enrolledAt: enrolledAt,
      secret: Secret(random.bytes(TOTPFactor.secretLength)), factor: random.source.uuid(),
      lastSeen: lastSeen)
  }

  private func script(_ writing: String) -> DemoData.Script? {
    var lot = demo.random.below(100)
    let shares = demo.data.writings[writing, default: [:]].sorted { $0.key < $1.key }
    return shares.first { _, share in
      lot -= share
      return lot < 0
    }.flatMap { demo.data.scripts[$0.key] }
  }

  private mutating func address(_ stem: String) -> String {
    let count = addresses[stem, default: 0] + 1
    addresses[stem] = count
    return "\(stem)\(count == 1 ? "" : String(count))@\(demo.random.one(of: demo.data.domains))"
  }

  /// Returns a number reserved for fictional use: 555-0100 to 555-0199 of each North American area
  /// code.
  private mutating func phone() -> String? {
    guard demo.random.happens(310) else { return nil }
    phones += 1
    let (area, line) = (210 + phones / 100, phones % 100)
    return "+1\(area)55501\(line < 10 ? "0" : "")\(line)"
  }

  private func moment(after start: Instant, before end: Instant) -> Instant {
    let seconds = max(end.seconds - start.seconds - 120, 1)
    return min(start.advanced(bySeconds: 60 + demo.random.number(0...seconds)), end)
  }
}
