import Database
import JSON
import Synchronization
import Text

struct SMSSettings {
  private enum Regions {
    case all
    case only(Set<UntrustedText>)
    case except(Set<UntrustedText>)
  }

  private let regions: Regions
  private let testNumbers: JSON?

  init(_ members: JSON?, isTenant: Bool) {
    testNumbers = TestNumber.path(isTenant: isTenant).reduce(members) { value, name in
      value?[UntrustedText(name)]
    }
    let config = members?["smsRegionConfig"]
    if let only = config?["allowlistOnly"] {
      regions = .only(Self.list(only["allowedRegions"]))
    } else if let except = config?["allowByDefault"] {
      regions = .except(Self.list(except["disallowedRegions"]))
    } else {
      regions = .all
    }
  }

  static func find(_ pool: Pool, _ connection: borrowing Connection) throws -> SMSSettings {
    let members: String? = try connection.first(
      "SELECT members FROM scope WHERE scope_key = \(pool.key)"
    ) { try $0.next() }
    return SMSSettings(
      try? JSON.parse(Array((members ?? "{}").utf8)), isTenant: pool.tenant != nil)
  }

  private static func list(_ regions: JSON?) -> Set<UntrustedText> {
    Set(
      (regions?.arrayValue ?? []).compactMap { region in
        region.textValue.map { UntrustedText($0.text.uppercased()) }
      })
  }

  /// The fixed code of a test number, which gets no messages; nil for any other number.
  func testCode(of number: String) -> String? { testNumbers?[number]?.textValue?.text }

  var testCodes: [String: String] {
    var codes: [String: String] = [:]
    for (number, code) in testNumbers?.objectValue ?? [:] {
      if let code = code.textValue { codes[number.text] = code.text }
    }
    return codes
  }

  /// For a number that several regions share, one region is enough to match the list, whether it
  /// allows or blocks regions.
  func allows(_ number: String) -> Bool {
    let own = CallingCodes.regions(of: number).map { UntrustedText($0) }
    return switch regions {
    case .all: true
    case .only(let allowed): !allowed.isDisjoint(with: own)
    case .except(let refused): refused.isDisjoint(with: own)
    }
  }
}

/// A test phone number, as configured with its code.
public enum TestNumber {
  /// Returns the E.164 format of a number, as ``Account/phoneNumber(_:)`` does; nil if the text
  /// isn't a phone number.
  public static func normalized(_ text: String) -> String? {
    let number = Account.phoneNumber(text)
    do { try AccountRules.checkPhone(number) } catch { return nil }
    return number
  }
}

/// A region that text messages are sent to, as an ISO 3166-1 alpha-2 code.
public enum SMSRegion {
  /// Returns whether a region has phone numbers; case-insensitive.
  public static func isKnown(_ code: String) -> Bool {
    code.utf8.count == 2 && CallingCodes.all.contains(code.uppercased())
  }
}

extension TestNumber {
  /// The configuration member with the test numbers of a project or tenant.
  package static func path(isTenant: Bool) -> [String] { paths[isTenant ? 1 : 0] }

  /// The member of a project, and that of a tenant.
  static let paths = [["signIn", "phoneNumber", "testPhoneNumbers"], ["testPhoneNumbers"]]

  /// Returns the text of configuration members without the test phone numbers and objects that have
  /// nothing else.
  static func removed(from members: JSON?, _ text: String, isTenant: Bool) -> String {
    guard text.contains("testPhoneNumbers"), var root = members?.objectValue else { return text }
    remove(path(isTenant: isTenant)[...], from: &root)
    return String(decoding: JSON.object(root).serialized(), as: UTF8.self)
  }

  private static func remove(_ path: ArraySlice<String>, from object: inout JSON.Object) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      object[name] = nil
      return
    }
    guard var inner = object[name]?.objectValue else { return }
    remove(path.dropFirst(), from: &inner)
    object[name] = inner.isEmpty ? JSON?.none : .object(inner)
  }
}

/// Counts the text messages that the limits of this process refused.
final class SMSRejections: Sendable {
  private let number = Atomic<Int>(0)

  /// The number since the start.
  var count: Int { number.load(ordering: .relaxed) }

  func add() { number.add(1, ordering: .relaxed) }
}

extension Identity {
  /// The number of text messages that a daily limit refused since the start.
  public var textMessageRejections: Int { store.outbox.smsRejections.count }
}

/// The daily limits of text messages of a pool.
///
/// They cap the cost of SMS pumping, in which someone requests messages to numbers that earn money
/// with each message they receive. Days are UTC. Half of a limit is reserved for messages that
/// follow a first factor or belong to a session. The other half is open to anyone, for any number:
/// at most a tenth of it in an hour, and an eighth of it in a day from one network.
public struct SMSLimits: Sendable, Equatable {
  public let perPool: Int
  public let perRegion: Int

  public init(perPool: Int = 1_000, perRegion: Int = 200) {
    (self.perPool, self.perRegion) = (perPool, perRegion)
  }

  /// What is counted: all messages, or those of one region, and of these the ones that anyone can
  /// request.
  private struct Count {
    /// The stored name of all regions.
    private static let all = "*"
    private static let suffix = "?"

    let region: String
    let isOpen: Bool

    var stored: String { isOpen ? region + Self.suffix : region }

    init(stored: String) {
      isOpen = stored.hasSuffix(Self.suffix)
      region = isOpen ? String(stored.dropLast()) : stored
    }

    private init(_ region: String, isOpen: Bool) {
      (self.region, self.isOpen) = (region, isOpen)
    }

    static func of(_ region: String, isOpen: Bool) -> [Count] {
      (isOpen ? [false, true] : [false]).flatMap { isOpen in
        [all, region].map { Count($0, isOpen: isOpen) }
      }
    }

    func limit(_ limits: SMSLimits) -> Int {
      let limit = region == Self.all ? limits.perPool : limits.perRegion
      return isOpen ? limit - limit / 2 : limit
    }
  }

  /// Returns when the next message may be sent if a limit is reached; `isOpen` if anyone can
  /// request it, as neither a first factor nor a session was checked.
  func charge(
    _ request: PhoneRequest, isOpen: Bool, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let midnight = Instant(seconds: (now.day + 1) * 86_400)
    let region = CallingCodes.regions(of: request.phoneNumber).first ?? ""
    let counts = Count.of(region, isOpen: isOpen)
    let sent = try connection.all(
      """
      SELECT region, sent FROM sms_count
      WHERE scope_key = \(pool.key) AND day = \(now.day)
        AND region IN (\(SQL.list(counts.map(\.stored))))
      """
    ) { (count: Count(stored: try $0.next()), sent: try $0.next() as Int) }
    guard sent.allSatisfy({ $0.sent < $0.count.limit(self) }) else { return midnight }
    let parts = counts.filter(\.isOpen).flatMap { count in
      let (region, limit) = (count.region, count.limit(self))
      return [
        (CounterName.openMessages(to: region, in: pool.key), limit / 10, nil),
        (.openMessages(to: region, from: request.address, in: pool.key), limit / 8, midnight),
      ].map { (name: $0, limit: max($1, 1), end: $2) }
    }
    for (name, limit, end) in parts {
      if let until = try HourlyQuota.exhausted(name, limit: limit, until: end, at: now, connection)
      {
        return until
      }
    }
    for (name, limit, end) in parts {
      _ = try HourlyQuota.take(name, limit: limit, until: end, at: now, connection)
    }
    for count in counts {
      try connection.run(
        """
        INSERT INTO sms_count (scope_key, day, region, sent)
        VALUES (\(pool.key), \(now.day), \(count.stored), 1)
        ON CONFLICT (scope_key, day, region) DO UPDATE SET sent = sms_count.sent + 1
        """)
    }
    return nil
  }

  /// Returns the number of messages of a pool today that reached a limit, or its open half; nil if
  /// none did.
  func reached(
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    try connection.all(
      "SELECT region, sent FROM sms_count WHERE scope_key = \(pool.key) AND day = \(now.day)"
    ) { (count: Count(stored: try $0.next()), sent: try $0.next() as Int) }
    .first { $0.sent >= $0.count.limit(self) }?.sent
  }

  /// Deletes the counts of days before yesterday.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM sms_count WHERE day < \(now.day - 1)", of: "sms_count", by: "scope_key, day, region")
  }
}
