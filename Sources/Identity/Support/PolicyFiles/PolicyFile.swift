public import JSON

/// The MFA policies of pools as a file under version control.
///
/// A pool that the file doesn't name, and a field that it doesn't give, are left alone.
public struct PolicyFile: Sendable, Equatable {
  public let pools: [Entry]

  /// A pool and the fields of its policy that the file gives.
  public struct Entry: Sendable, Equatable {
    public let project: ID<Project>
    public let tenant: ID<Tenant>?
    /// The version of the policy that the file is based on.
    public let version: Int
    let values: [Value]

    struct Key: Hashable {
      let project: ID<Project>
      let tenant: ID<Tenant>?

      var name: String { tenant.map { "\(project)/\($0)" } ?? project.text }
    }

    var key: Key { Key(project: project, tenant: tenant) }
    /// The project, and the tenant after a slash.
    public var name: String { key.name }
  }

  enum Value: Sendable, Equatable {
    case state(MFAState?)
    case sms(Bool)
    case noTOTP
    case totpState(MFAState)
    case adjacentIntervals(AdjacentIntervals)
    case pattern(EnrollmentPattern?)
    case mandatoryFrom(Day?)
    case enforcement(Enforcement?)
  }

  /// The name and version of the format, the value of the member `format`.
  public static let format = "countersign-policy/1"
}

/// A member of a pool in a policy file that describes the policy; the raw value is its name.
public enum PolicyFileMember: String, CaseIterable, Sendable {
  /// The configuration's top-level state.
  case state
  case sms
  case totpState = "totp.state"
  case adjacentIntervals = "totp.adjacentIntervals"
  case pattern
  case mandatoryFrom
  case enforcement

  /// Returns the member's value in a policy; nil if there's no TOTP configuration to have one.
  public func value(in edit: PolicyEdit) -> JSON? {
    let configuration = edit.configuration
    func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    switch self {
    case .state: return text(configuration.state?.code)
    case .sms: return .bool(configuration.smsEnabled)
    case .totpState: return (configuration.totp?.state.code).map { .string($0) }
    case .adjacentIntervals: return configuration.totp?.intervals.json
    case .pattern: return text(edit.pattern?.rawValue)
    case .mandatoryFrom: return text(edit.mandatoryFrom?.description)
    case .enforcement: return edit.enforcement?.json ?? .null
    }
  }
}

extension PolicyFile.Entry {
  init(_ policy: StoredPolicy) {
    let configuration = policy.configuration
    let totp: [PolicyFile.Value] =
      configuration.totp.map {
        [.totpState($0.state), .adjacentIntervals($0.intervals)]
      } ?? [.noTOTP]
    self.init(
      project: policy.pool.project, tenant: policy.pool.tenant, version: policy.version,
      values: [.state(configuration.state), .sms(configuration.smsEnabled)] + totp
        + [
          .pattern(policy.pattern), .mandatoryFrom(policy.mandatoryFrom),
          .enforcement(policy.enforcement),
        ])
  }

  /// Returns the policy that the file asks for, given the current one.
  ///
  /// A field that isn't given keeps its value, so it never widens access. A new TOTP configuration
  /// has to be complete, because its default accepts eleven codes.
  func edit(of old: PolicyEdit) throws(PolicyFileFault) -> PolicyEdit {
    var edit = old
    var (state, intervals) = (
      edit.configuration.totp?.state, edit.configuration.totp?.intervals
    )
    var hasTOTP = edit.configuration.totp != nil
    for value in values {
      switch value {
      case .state(let state): edit.configuration.state = state
      case .sms(let isOn): edit.configuration.smsEnabled = isOn
      case .noTOTP: hasTOTP = false
      case .totpState(let new): (hasTOTP, state) = (true, new)
      case .adjacentIntervals(let new): (hasTOTP, intervals) = (true, new)
      case .pattern(let pattern): edit.pattern = pattern
      case .mandatoryFrom(let day):
        guard day == nil || edit.pattern == .mandatory else { throw .dayWithoutMandatory }
        edit.mandatoryFrom = day
      case .enforcement(let enforcement): edit.enforcement = enforcement
      }
    }
    guard hasTOTP else {
      edit.configuration.totp = nil
      return edit
    }
    guard let state, let intervals else { throw .incompleteTOTP }
    edit.configuration.totp = TOTPConfiguration(state: state, intervals: intervals)
    return edit
  }
}

extension PolicyFile {
  /// The file's text: every pool with all its members, always in the same order.
  public func serialized() -> [UInt8] {
    let pools: [JSON] = pools.map { .object($0.members) }
    return JSON.object(["format": .string(Self.format), "pools": .array(pools)]).indented()
  }
}

extension PolicyFile.Entry {
  fileprivate var members: JSON.Object {
    var object: JSON.Object = [
      "project": .string(project.text),
      "tenant": tenant.map { .string($0.text) } ?? .null,
      "policyVersion": .number(JSON.Number(version)),
    ]
    func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    for value in values {
      switch value {
      case .state(let state): object.append("state", text(state?.code))
      case .sms(let isOn): object.append("sms", .bool(isOn))
      case .noTOTP: object.append("totp", .null)
      case .totpState(let state):
        object.changeObject("totp") { $0.append("state", .string(state.code)) }
      case .adjacentIntervals(let intervals):
        object.changeObject("totp") { $0.append("adjacentIntervals", intervals.json) }
      case .pattern(let pattern): object.append("pattern", text(pattern?.rawValue))
      case .mandatoryFrom(let day): object.append("mandatoryFrom", text(day?.description))
      case .enforcement(let enforcement):
        object.append("enforcement", enforcement?.json ?? .null)
      }
    }
    return object
  }
}

/// Why a policy file can't be used; nothing is changed.
public enum PolicyFileError: Error, Sendable {
  /// The file isn't JSON; the line if it's known.
  case notJSON(JSONError, line: Int?)
  /// Everything that's wrong in the file; never empty.
  case problems([PolicyFileProblem])
}

public struct PolicyFileProblem: Sendable, Equatable {
  /// The member, such as `pools[2].totp.state`.
  public let member: String
  /// The pool's project, and its tenant after a slash; nil outside a pool.
  public let pool: String?
  public let fault: PolicyFileFault
}

public enum PolicyFileFault: Error, Sendable, Equatable {
  case missing
  case unknownMember
  /// The value has another type than this one.
  case wrongType(JSONType)
  case notOneOf([String])
  case outOfRange(ClosedRange<Int>)
  /// The text doesn't have this many bytes.
  case wrongLength(ClosedRange<Int>)
  /// The day isn't of the form `2026-12-01`, doesn't exist, or is before ``Day/first``.
  case invalidDay
  case duplicatePool
  case poolNotFound
  /// The pool has no TOTP configuration, so both its state and its intervals have to be given.
  case incompleteTOTP
  /// A start day is given, but the pattern isn't “mandatory”.
  case dayWithoutMandatory
  /// The file is based on another version than the current one.
  case otherVersion(current: Int)
  /// The change weakens the policy, so a reason is required.
  case reasonRequired
  /// The reason is longer than ``ActionRequest/longestNote`` characters.
  case reasonTooLong
  /// The change refuses sign-ins, and the server sends no emails with enrollment links.
  case refusalNeedsEmail
  /// The change requires a second administrator, so it has to be made in the console.
  case approvalRequired
  /// The policy can only be changed at the server of the pool's users.
  case connected

  public enum JSONType: String, Sendable {
    case object
    case array
    case string
    case integer
    case boolean
  }
}
