import JSON
import OTP
import Text

extension PolicyFile {
  /// - Throws: ``PolicyFileError/notJSON(_:line:)``, or ``PolicyFileError/problems(_:)`` with all of
  ///   them at once.
  public init(parsing bytes: [UInt8]) throws(PolicyFileError) {
    let json: JSON
    do { json = try JSON.parse(bytes) } catch {
      throw .notJSON(error, line: error.offset.map { Self.line(at: $0, in: bytes) })
    }
    var reader = PolicyFileReader()
    pools = reader.pools(json)
    guard reader.problems.isEmpty else { throw .problems(reader.problems) }
  }

  private static func line(at offset: Int, in bytes: [UInt8]) -> Int {
    bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
  }
}

extension JSONError {
  /// The offset of the error in bytes; nil if it has none.
  fileprivate var offset: Int? {
    switch self {
    case .syntax(let offset), .nameTooLong(let offset), .tooManyMarks(let offset),
      .invalidUTF8(let offset):
      offset
    case .empty, .tooDeep, .duplicateMember, .tooLarge: nil
    }
  }
}

/// Reads a policy file and collects everything that's wrong in it.
private struct PolicyFileReader {
  var problems: [PolicyFileProblem] = []
  /// The member that contains those being read, followed by a period; empty at the top.
  private var place = ""
  private var pool: String?

  private static let idLengths = 1...128

  mutating func pools(_ json: JSON) -> [PolicyFile.Entry] {
    guard let object = object(json, ["format", "pools"]) else { return [] }
    if let format = required("format", in: object) {
      let text = format.textValue?.text(atMost: 100)
      if text.map({ $0.isSameBytes(as: PolicyFile.format) }) != true {
        report("format", .notOneOf([PolicyFile.format]))
      }
    }
    guard let list = required("pools", in: object) else { return [] }
    guard let elements = list.arrayValue else {
      report("pools", .wrongType(.array))
      return []
    }
    var seen: Set<PolicyFile.Entry.Key> = []
    var pools: [PolicyFile.Entry] = []
    for (index, element) in elements.enumerated() {
      place = "pools[\(index)]"
      let found = pool(element)
      if let found, !seen.insert(found.key).inserted { report(nil, .duplicatePool) }
      if let found { pools.append(found) }
      pool = nil
    }
    return pools
  }

  private mutating func pool(_ json: JSON) -> PolicyFile.Entry? {
    let names = [
      "project", "tenant", "policyVersion", "state", "sms", "totp", "pattern", "mandatoryFrom",
      "enforcement",
    ]
    guard let object = object(json, names) else { return nil }
    let project = required("project", in: object).flatMap { id($0, "project") }
    let tenant = object["tenant"].flatMap { $0.isNull ? nil : id($0, "tenant") }
    if let project { pool = tenant.map { "\(project)/\($0)" } ?? project }
    let version = required("policyVersion", in: object).flatMap {
      integer($0, "policyVersion", 0...Int(Int32.max))
    }
    let values = values(object)
    guard let project, let version else { return nil }
    return PolicyFile.Entry(
      project: ID(project), tenant: tenant.map { ID($0) }, version: version, values: values)
  }

  private mutating func values(_ object: JSON.Object) -> [PolicyFile.Value] {
    var values: [PolicyFile.Value] = []
    let states = MFAState.allCases.map { ($0.code, $0) }
    if let json = object["state"] {
      if json.isNull {
        values.append(.state(nil))
      } else if let state = choice(json, "state", states) {
        values.append(.state(state))
      }
    }
    if let json = object["sms"] {
      if let isOn = json.boolValue {
        values.append(.sms(isOn))
      } else {
        report("sms", .wrongType(.boolean))
      }
    }
    if let json = object["totp"] { values += totp(json) }
    if let json = object["pattern"] {
      let patterns = EnrollmentPattern.allCases.map { ($0.rawValue, $0) }
      if json.isNull {
        values.append(.pattern(nil))
      } else if let pattern = choice(json, "pattern", patterns) {
        values.append(.pattern(pattern))
      }
    }
    if let json = object["mandatoryFrom"] {
      if json.isNull {
        values.append(.mandatoryFrom(nil))
      } else if let day = json.textValue?.text(atMost: 10).flatMap({ Day($0) }) {
        values.append(.mandatoryFrom(day))
      } else {
        report("mandatoryFrom", .invalidDay)
      }
    }
    if let json = object["enforcement"] { values += enforcement(json) }
    return values
  }

  private mutating func enforcement(_ json: JSON) -> [PolicyFile.Value] {
    guard !json.isNull else { return [.enforcement(nil)] }
    let outer = place
    place += ".enforcement"
    defer { place = outer }
    guard let object = object(json, ["mode", "from", "graceDays"]) else { return [] }
    let mode = required("mode", in: object).flatMap {
      choice($0, "mode", Enforcement.Mode.allCases.map { ($0.rawValue, $0) })
    }
    let from = required("from", in: object).flatMap { json in
      let day = json.textValue?.text(atMost: 10).flatMap { Day($0) }
      if day == nil { report("from", .invalidDay) }
      return day
    }
    let days = required("graceDays", in: object).flatMap {
      integer($0, "graceDays", Enforcement.graceRange)
    }
    guard let mode, let from, let days else { return [] }
    return [.enforcement(Enforcement(mode, from: from, graceDays: days))]
  }

  private mutating func totp(_ json: JSON) -> [PolicyFile.Value] {
    guard !json.isNull else { return [.noTOTP] }
    let outer = place
    place += ".totp"
    defer { place = outer }
    guard let object = object(json, ["state", "adjacentIntervals"]) else { return [] }
    var values: [PolicyFile.Value] = []
    if let json = object["state"],
      let state = choice(json, "state", MFAState.allCases.map { ($0.code, $0) })
    {
      values.append(.totpState(state))
    }
    if let json = object["adjacentIntervals"] {
      if json.isNull {
        values.append(.adjacentIntervals(.standard))
      } else if json.textValue == UntrustedText(AdjacentIntervals.unsaidText) {
        values.append(.adjacentIntervals(.unsaid))
      } else if let number = integer(json, "adjacentIntervals", Window.range) {
        values.append(.adjacentIntervals(.number(number)))
      }
    }
    return values
  }

  // MARK: - Values

  private mutating func object(_ json: JSON, _ names: [String]) -> JSON.Object? {
    guard let object = json.objectValue else {
      report(nil, .wrongType(.object))
      return nil
    }
    for name in object.names where !names.contains(where: { $0.isSameBytes(as: name.text) }) {
      report(name.text, .unknownMember)
    }
    return object
  }

  private mutating func required(_ name: String, in object: JSON.Object) -> JSON? {
    guard let value = object[name] else {
      report(name, .missing)
      return nil
    }
    return value
  }

  private mutating func id(_ json: JSON, _ name: String) -> String? {
    guard let given = json.textValue else {
      report(name, .wrongType(.string))
      return nil
    }
    guard !given.isEmpty, let text = given.text(atMost: Self.idLengths.upperBound) else {
      report(name, .wrongLength(Self.idLengths))
      return nil
    }
    return text
  }

  private mutating func integer(
    _ json: JSON, _ name: String, _ range: ClosedRange<Int>
  ) -> Int? {
    guard let number = json.numberValue?.int64 else {
      report(name, .wrongType(.integer))
      return nil
    }
    guard let value = Int(exactly: number), range.contains(value) else {
      report(name, .outOfRange(range))
      return nil
    }
    return value
  }

  private mutating func choice<Value>(
    _ json: JSON, _ name: String, _ values: [(String, Value)]
  ) -> Value? {
    let text = json.textValue
    let found = values.first { text == UntrustedText($0.0) }
    if found == nil { report(name, .notOneOf(values.map(\.0))) }
    return found?.1
  }

  private mutating func report(_ member: String?, _ fault: PolicyFileFault) {
    let path = [place, member ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    problems.append(PolicyFileProblem(member: path, pool: pool, fault: fault))
  }
}
