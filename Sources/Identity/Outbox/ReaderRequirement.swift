/// What an administrator must be allowed to do when a message is sent to them.
enum ReaderRequirement {
  /// They have a permission in the pool of the message.
  case permission(Permission)
  /// They have a permission on the instance, whose messages are listed in a pool as well.
  case instancePermission(Permission)
  /// They can read a report.
  case report(Report, about: ReportSubject)

  private static let instance = "instance"
  private static let report = "report"

  /// The text of the column: the name of the permission in the pool, or a code with the name of the
  /// permission on the instance, or with those of the report and of what it's about.
  var stored: String {
    switch self {
    case .permission(let permission): permission.rawValue
    case .instancePermission(let permission):
      StoredCode(Self.instance, [permission.rawValue]).text
    case .report(let report, let subject):
      StoredCode(Self.report, [report.rawValue, subject.text]).text
    }
  }

  /// Reads the column of a message; nil if this version doesn't know it.
  ///
  /// - Parameters:
  ///   - stored: The text.
  ///   - scope: The pool of the message.
  init?(stored: String, in scope: Scope) {
    if let permission = Permission(rawValue: stored) {
      self = .permission(permission)
      return
    }
    let code = StoredCode(stored)
    if let code, code.code == Self.instance, code.values.count == 1,
      let permission = Permission(rawValue: code.values[0])
    {
      self = .instancePermission(permission)
      return
    }
    guard let code, code.code == Self.report, code.values.count == 2,
      let report = Report(rawValue: code.values[0]),
      // The message of a report about the instance is listed in a pool as well.
      let subject = ReportSubject(code.values[1], scope) ?? ReportSubject(code.values[1], nil)
    else { return nil }
    self = .report(report, about: subject)
  }

  /// Returns whether an administrator may get a message of the pool.
  func isMet(by administrator: Administrator, in scope: Scope) -> Bool {
    switch self {
    case .permission(let permission): administrator.may(permission, in: scope)
    case .instancePermission(let permission): administrator.may(permission, in: nil)
    case .report(let report, let subject): administrator.may(read: report, about: subject)
    }
  }
}
