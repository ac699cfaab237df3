import Database

/// A version of a policy: the policy after one of its changes.
public struct PolicyVersion: Sendable {
  /// The number of the version.
  public let number: Int
  /// The audit log entry of the change.
  public let row: AuditRow
  /// The policy after the change.
  public let edit: PolicyEdit
}

extension Policies {
  /// The maximum number of versions that can be restored.
  public static let mostVersions = 100
  private static let partLength = 100

  /// Returns the newest versions of a policy that can be restored, newest first.
  ///
  /// They're calculated from the current policy and the changes in the audit log. The list ends
  /// where the two don't match, such as after a restored backup.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func restorable(_ scope: Scope) async throws(PolicyError) -> [PolicyVersion] {
    try await store.read(PolicyError.self) { connection in
      try restorable(scope, connection)
    }
  }

  /// Returns a version by its audit log entry; nil if it can't be restored.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func version(
    _ row: Int64, of scope: Scope
  ) async throws(PolicyError) -> PolicyVersion? {
    try await store.read(PolicyError.self) { connection in
      let versions = try restorable(scope, connection) { $0.row.id == row }
      return versions.last.flatMap { $0.row.id == row ? $0 : nil }
    }
  }

  /// Returns a pool's policy as of a version, the first one included; nil if it can't be calculated.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func edit(
    ofVersion number: Int, of scope: Scope
  ) async throws(PolicyError) -> PolicyEdit? {
    try await edits(ofVersions: [number], of: scope)[number]
  }

  /// Returns a pool's policy as of versions, without those that can't be calculated.
  ///
  /// - Throws: ``PolicyError/scopeNotFound``, ``PolicyError/unavailable(_:)``.
  public func edits(
    ofVersions numbers: Set<Int>, of scope: Scope
  ) async throws(PolicyError) -> [Int: PolicyEdit] {
    try await store.read(PolicyError.self) { connection in
      let policy = try Self.stored(scope.key, connection)
      var edits = [policy.version: policy.edit]
      if let first = numbers.min(), first < policy.version {
        for version in try restorable(scope, connection, through: { $0.number <= first + 1 }) {
          edits[version.number - 1] = version.edit.before(version.row.changes)
        }
      }
      return edits.filter { numbers.contains($0.key) }
    }
  }

  private func restorable(
    _ scope: Scope, _ connection: borrowing Connection,
    through isLast: (PolicyVersion) -> Bool = { _ in false }
  ) throws -> [PolicyVersion] {
    let policy = try Self.find(scope.key, connection)
    let filter = AuditFilter.policyVersions(of: scope)
    var (versions, edit, after) = ([PolicyVersion](), policy.edit, nil as String?)
    repeat {
      let page = try audit.list(filter, after: after, limit: Self.partLength, connection)
      for row in page.items {
        let version = PolicyVersion(
          number: policy.version - versions.count, row: row, edit: edit)
        versions.append(version)
        guard !isLast(version), versions.count < Self.mostVersions,
          let former = edit.before(row.changes)
        else { return versions }
        edit = former
      }
      after = page.next
    } while after != nil
    return versions
  }
}

extension PolicyEdit {
  /// Returns the policy before changes; nil if the changes don't lead to this policy.
  func before(_ changes: [AuditChange]) -> PolicyEdit? {
    let fields = auditFields
    var values = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
    for change in changes {
      guard let name = change.field, values[name] != nil else { continue }
      guard let old = change.old, change.new == values[name] else { return nil }
      values[name] = old
    }
    return PolicyEdit(auditValues: values)
  }

  /// Creates a policy from the values of its fields in the audit log; nil if one is unknown.
  private init?(auditValues values: [AuditFieldName: AuditValue]) {
    func code<Value>(
      _ name: AuditFieldName, _ value: (String) -> Value?
    ) -> Value?? {
      switch values[name] {
      case .absent: .some(nil)
      case .code(let code): value(code).map { .some($0) }
      default: nil
      }
    }
    guard let state = code(.mfaState, MFAState.init(code:)),
      let totpState = code(.totp, MFAState.init(code:)),
      let pattern = code(.pattern, EnrollmentPattern.init(rawValue:)),
      case .flag(let sms) = values[.sms]
    else { return nil }
    let intervals: Int?
    switch values[.adjacentIntervals] {
    case .absent, .code("default"): intervals = nil
    case .number(let number): intervals = number
    default: return nil
    }
    let day: Day?
    switch values[.mandatoryFrom] {
    case .absent: day = nil
    case .day(let known): day = known
    default: return nil
    }
    let enforcement: Enforcement?
    switch (values[.enforcement], values[.enforcedFrom], values[.graceDays]) {
    case (.absent, .absent, .absent): enforcement = nil
    case (.code(let code), .day(let day), .number(let days)):
      guard let mode = Enforcement.Mode(rawValue: code),
        let known = Enforcement(mode, from: day, graceDays: days)
      else { return nil }
      enforcement = known
    default: return nil
    }
    self.init(
      configuration: MFAConfiguration(
        state: state, smsEnabled: sms,
        totp: totpState.map { TOTPConfiguration(state: $0, adjacentIntervals: intervals) }),
      pattern: pattern, mandatoryFrom: day, enforcement: enforcement)
  }
}
