import Database
import JSON

/// What the configuration of a user pool says of text messages.
struct SMSSettings {
  /// To which regions messages go.
  private enum Regions {
    case all
    case only(Set<String>)
    case except(Set<String>)
  }

  private let regions: Regions
  private let testNumbers: JSON?

  /// Reads the members of a project's configuration, or of a tenant.
  init(members: String, isTenant: Bool) {
    let members = (try? JSON.parse(Array(members.utf8))) ?? .null
    testNumbers =
      isTenant
      ? members["testPhoneNumbers"] : members["signIn"]?["phoneNumber"]?["testPhoneNumbers"]
    let config = members["smsRegionConfig"]
    if let only = config?["allowlistOnly"] {
      regions = .only(Self.list(only["allowedRegions"]))
    } else if let except = config?["allowByDefault"] {
      regions = .except(Self.list(except["disallowedRegions"]))
    } else {
      regions = .all
    }
  }

  static func find(_ scope: Scope, _ connection: borrowing Connection) throws -> SMSSettings {
    let members: String? = try connection.first(
      "SELECT members FROM scope WHERE scope_key = \(scope.key)"
    ) { try $0.value(0) }
    return SMSSettings(members: members ?? "{}", isTenant: scope.tenant != nil)
  }

  private static func list(_ regions: JSON?) -> Set<String> {
    Set((regions?.arrayValue ?? []).compactMap { $0.textValue?.text.uppercased() })
  }

  /// The fixed code of a number for tests, to which nothing is sent; nil for any other.
  func testCode(of number: String) -> String? { testNumbers?[number]?.textValue?.text }

  /// Whether messages go to a number.
  ///
  /// Of a number that several regions share, one that is allowed is enough, and one that is refused
  /// as well.
  func allows(_ number: String) -> Bool {
    switch regions {
    case .all: true
    case .only(let allowed): !allowed.isDisjoint(with: CallingCodes.regions(of: number))
    case .except(let refused): refused.isDisjoint(with: CallingCodes.regions(of: number))
    }
  }
}
