import Crypto
import Demo
import Identity
import OTP

/// A user of a large demo, ready to be stored.
struct LargeDemoUser: Sendable {
  let traits: LargeDemoTraits
  let uid: String
  let email: String
  let name: String
  let nameFolded: String?
  let phone: String?
  let createdAt: Instant
  let lastLoginAt: Instant?
  let lastCodeAttemptAt: Int64?
  let factors: [NewFactor]
  let text: SearchIndex.New
}

/// The traits of a user.
struct LargeDemoTraits: Sendable {
  var isVerified: Bool
  var isDisabled: Bool
  var hasTOTP: Bool
  /// The number of phones enrolled as second factors.
  var phones: Int
  var isLocked: Bool
}

/// The users of a pool in a large demo.
///
/// Each has its own random numbers, so that any of them can be generated at any time.
struct LargeDemoCrowd: Sendable {
  let count: Int
  /// The number of code attempts per user.
  let codes: Int
  let seed: UInt64
  let now: Instant
  let data: DemoData
  /// Whether each user has an authenticator app.
  let apps: [Bool]
  let counts: AccountCounts
  /// The times of each user's last code attempt and last accepted code, in microseconds; 0 for
  /// never.
  private let lastCodes: [Int64]
  private let lastRight: [Int64]

  static let window = Window(adjacentIntervals: 3) ?? .standard
  /// How long code attempts are kept, in days, excluding the current day.
  static let days: Int64 = 89

  /// The first user has five factors and many code attempts, the second has none.
  static let special = ["five-factors@example.com", "no-factor@example.com"]

  init(count: Int, codes: Int, seed: UInt64, now: Instant, data: DemoData) {
    self.data = data
    self.count = count
    self.codes = codes
    self.seed = seed
    self.now = now
    var apps: [Bool] = []
    var counts = AccountCounts()
    apps.reserveCapacity(count)
    for number in 0..<count {
      var lots = Self.lots(seed, number)
      let traits = Self.traits(number, &lots)
      apps.append(traits.hasTOTP)
      counts.users += 1
      counts.enrolledUsers += (traits.hasTOTP || traits.phones > 0).number
      counts.totpUsers += traits.hasTOTP.number
      counts.phoneUsers += (traits.phones > 0).number
      counts.unverifiedEmails += (!traits.isVerified).number
      counts.disabled += traits.isDisabled.number
      counts.locked += traits.isLocked.number
    }
    self.apps = apps
    self.counts = counts
    var (last, right) = ([Int64](repeating: 0, count: count), [Int64](repeating: 0, count: count))
    var given = LargeDemoCodes(
      count: count, perUser: codes, apps: apps, seed: seed, now: now, programs: data.programs)
    while let code = given.next() {
      last[code.number] = code.at
      if code.finding.result == .accepted { right[code.number] = code.at }
    }
    (lastCodes, lastRight) = (last, right)
  }

  /// Returns the random numbers of one user.
  private static func lots(_ seed: UInt64, _ number: Int) -> LargeDemoLots {
    LargeDemoLots(state: (seed &* 0x2545_F491_4F6C_DD1D) ^ (UInt64(number) << 20))
  }

  private static func traits(_ number: Int, _ lots: inout LargeDemoLots) -> LargeDemoTraits {
    if number < special.count {
      let hasFive = number == 0
      return LargeDemoTraits(
        isVerified: true, isDisabled: false, hasTOTP: hasFive, phones: hasFive ? 4 : 0,
        isLocked: false)
    }
    let isVerified = lots.happens(940)
    // Enough users are disabled or locked that such a list fills a page even with a thousand users,
    // and can be compared with that of a million.
    let isDisabled = lots.happens(70)
    let hasTOTP = isVerified && lots.happens(890)
    var phones = 0
    if isVerified, lots.happens(400) { phones = lots.happens(250) ? 2 : 1 }
    return LargeDemoTraits(
      isVerified: isVerified, isDisabled: isDisabled, hasTOTP: hasTOTP, phones: phones,
      isLocked: hasTOTP && lots.happens(85))
  }

  /// Returns the enrollment ID of a factor, in the format of a UUID.
  func factorID(_ number: Int, _ place: Int) -> String {
    var lots = LargeDemoLots(state: seed &+ UInt64(number) &* 8 &+ UInt64(place))
    let (one, two) = (lots.next(), lots.next())
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
      let word = index < 16 ? one : two
      var digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index % 16 * 4)) & 0xF
      if index == 12 { digit = 4 }
      if index == 16 { digit = digit & 3 | 8 }
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Generates a user; sealing secrets uses the only random numbers that aren't the user's own.
  func user(
    _ number: Int, in pool: Pool, _ totp: TOTPFactor
  ) throws -> LargeDemoUser {
    var lots = Self.lots(seed, number)
    let traits = Self.traits(number, &lots)
    guard let script = data.scripts[lots.script()] else { throw Failure("an unknown script") }
    let (name, stem) = script.person { lots.one(of: $0) }
    let email =
      number < Self.special.count
      ? Self.special[number]
      : "\(stem)\(number)@\(lots.one(of: data.domains))"
    let uid = lots.uid()
    // North American numbers with an unassigned area code.
    let phone = lots.happens(310) ? "+1555\(Self.sevenDigits(number))" : nil
    // From three years ago to the start of the code attempt log, in the order of the keys.
    let span = 1_000 * 86_400
    let created = now.seconds - (Self.days + 1_001) * 86_400 + Int64(span / count * number)
    let createdAt = Instant(seconds: created)
    let right = lastRight[number]
    var lastLoginAt: Instant? = right == 0 ? nil : Instant(microseconds: right)
    if lastLoginAt == nil, !traits.hasTOTP, lots.happens(870) {
      lastLoginAt = Instant(seconds: now.seconds - Int64(lots.below(Int(Self.days) * 86_400)))
    }
    var factors: [NewFactor] = []
    let enrolledAt = createdAt.advanced(bySeconds: 3_600)
    if traits.hasTOTP {
      let id = ID<Factor>(factorID(number, 0))
      let secret = Secret(lots.bytes(TOTPFactor.secretLength))
      factors.append(
        NewFactor(
          id: id, kind: .totp, displayName: lots.one(of: script.devices), enrolledAt: enrolledAt,
          sealedSecret: try totp.sealed(secret, for: id, of: ID(uid), in: pool),
          lastUsedAt: right == 0 ? nil : Instant(microseconds: right)))
    }
    for place in 0..<traits.phones {
      factors.append(
        NewFactor(
          id: ID(factorID(number, place + 1)), kind: .phone, displayName: nil,
          enrolledAt: enrolledAt.advanced(bySeconds: Int64(place + 1) * 86_400),
          phoneNumber: "+1555\(Self.sevenDigits((number + place * 7_919) % 10_000_000))"))
    }
    let text = SearchText(
      fields: [email, name, phone, uid], factors: factors.map { ($0.id.text, $0.phoneNumber) })
    let last = lastCodes[number]
    return LargeDemoUser(
      traits: traits, uid: uid, email: email, name: name, nameFolded: text.name, phone: phone,
      createdAt: createdAt, lastLoginAt: lastLoginAt, lastCodeAttemptAt: last == 0 ? nil : last,
      factors: factors,
      text: SearchIndex.New(
        key: pool.accountKeys.lowerBound + Int64(number), folded: text.folded,
        beginnings: text.beginnings))
  }

  private static func sevenDigits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 7 - digits.utf8.count)) + digits
  }
}

/// SplitMix64 random numbers without a lock, for one user or one kind of event.
struct LargeDemoLots: Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }
  mutating func happens(_ perMille: Int) -> Bool { below(1_000) < perMille }
  mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let word = next()
      for shift in stride(from: UInt64(0), to: 64, by: 8) where bytes.count < count {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return bytes
  }

  mutating func script() -> String {
    switch below(100) {
    case ..<70: "latin"
    case ..<80: "arabic"
    case ..<90: "devanagari"
    default: "chinese"
    }
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  mutating func uid() -> String {
    let letters = bytes(AccountRules.uidLength).map { Self.letters[Int($0) % 62] }
    return String(decoding: letters, as: UTF8.self)
  }
}
