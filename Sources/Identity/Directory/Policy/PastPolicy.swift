import Database

struct PastPolicy: Sendable {
  let edit: PolicyEdit
  /// When the changes after it were made, newest first.
  let undone: [Instant]
}

/// A change of a policy in the audit log, and the policies that it leads from and to.
struct UndoneChange: Sendable {
  let row: AuditRow
  let after: PolicyEdit
  /// Nil if the log doesn't tell.
  let before: PolicyEdit?
}

extension Audit {
  /// The number of changes that are read at a time.
  private static let partLength = 100

  /// Returns the policy that a pool had before a time, by undoing the changes in the log from then on
  /// until its current policy; nil if the log doesn't tell what one of them did.
  func past(
    _ edit: PolicyEdit, of pool: Pool, before moment: Instant, _ connection: borrowing Connection
  ) throws -> PastPolicy? {
    var (past, undone) = (edit as PolicyEdit?, [Instant]())
    try undoChanges(of: edit, in: pool, since: moment, connection) { change in
      past = change.before
      undone.append(change.row.at)
      return true
    }
    return past.map { PastPolicy(edit: $0, undone: undone) }
  }

  /// Undoes the changes of a pool's policy in the log, from its current policy back to a time, or to
  /// its creation.
  ///
  /// It ends at a change whose earlier policy isn't known, and when `visit` returns false.
  func undoChanges(
    of edit: PolicyEdit, in pool: Pool, since moment: Instant? = nil,
    _ connection: borrowing Connection, visit: (UndoneChange) throws -> Bool
  ) throws {
    var filter = AuditFilter.policyVersions(of: pool)
    filter.from = moment
    var (edit, after) = (edit, nil as String?)
    repeat {
      let page = try list(filter, after: after, limit: Self.partLength, connection)
      for row in page.items {
        let change = UndoneChange(row: row, after: edit, before: edit.before(row.changes))
        guard try visit(change), let former = change.before else { return }
        edit = former
      }
      after = page.next
    } while after != nil
  }
}

extension PolicyEdit {
  /// Returns the policy before changes; nil if the changes don't lead to this policy, or weren't
  /// recorded in fields.
  func before(_ changes: [AuditChange]) -> PolicyEdit? {
    guard !changes.isEmpty else { return nil }
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
  init?(auditValues values: [AuditFieldName: AuditValue]) {
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
    guard let intervals = AdjacentIntervals(audited: values[.adjacentIntervals]) else { return nil }
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
        totp: totpState.map { TOTPConfiguration(state: $0, intervals: intervals) }),
      pattern: pattern, mandatoryFrom: day, enforcement: enforcement)
  }
}

/// A version of a policy: the policy after one of its changes.
public struct PolicyVersion: Sendable {
  public let number: Int
  public let row: AuditRow
  public let edit: PolicyEdit
}

extension Policies {
  public static let mostVersions = 100

  /// Returns the newest versions of a policy that can be restored, newest first.
  ///
  /// They're calculated from the current policy and the changes in the audit log. The list ends
  /// where the two don't match, such as after a restored backup.
  public func restorable(_ pool: Pool) async throws -> [PolicyVersion] {
    try await store.read { connection in
      try restorable(pool, connection)
    }
  }

  /// Returns a version by its audit log entry; nil if it can't be restored.
  public func version(
    _ row: Int64, of pool: Pool
  ) async throws -> PolicyVersion? {
    try await store.read { connection in
      let versions = try restorable(pool, connection) { $0.row.id == row }
      return versions.last.flatMap { $0.row.id == row ? $0 : nil }
    }
  }

  /// Returns a pool's policy as of a version, the first one included; nil if it can't be calculated.
  public func edit(
    ofVersion number: Int, of pool: Pool
  ) async throws -> PolicyEdit? {
    try await store.read { connection in
      let policy = try Self.stored(pool.key, connection)
      guard number < policy.version else { return number == policy.version ? policy.edit : nil }
      let versions = try restorable(pool, connection) { $0.number <= number + 1 }
      return versions.first { $0.number == number + 1 }.flatMap { $0.edit.before($0.row.changes) }
    }
  }

  private func restorable(
    _ pool: Pool, _ connection: borrowing Connection,
    through isLast: (PolicyVersion) -> Bool = { _ in false }
  ) throws -> [PolicyVersion] {
    let policy = try Self.find(pool.key, connection)
    var versions: [PolicyVersion] = []
    try audit.undoChanges(of: policy.edit, in: pool, connection) { change in
      let version = PolicyVersion(
        number: policy.version - versions.count, row: change.row, edit: change.after)
      versions.append(version)
      return !isLast(version) && versions.count < Self.mostVersions
    }
    return versions
  }
}
