import Database
import JSON
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
