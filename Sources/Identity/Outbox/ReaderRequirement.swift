/// What an administrator must be allowed to do when a message is sent to them.
enum ReaderRequirement {
  /// They have a permission in the pool of the message.
  case permission(Permission)
  /// They have a permission on the instance, whose messages are listed in a pool as well.
  case instancePermission(Permission)

  private static let instance = "instance"

  /// The text of the column: the name of the permission in the pool, or a code with the name of the
  /// permission on the instance.
  var stored: String {
    switch self {
    case .permission(let permission): permission.rawValue
    case .instancePermission(let permission):
      StoredCode(Self.instance, [permission.rawValue]).text
    }
  }

  /// Reads the column of a message; nil if this version doesn't know it.
  init?(stored: String) {
    if let permission = Permission(rawValue: stored) {
      self = .permission(permission)
      return
    }
    guard let code = StoredCode(stored), code.code == Self.instance, code.values.count == 1,
      let permission = Permission(rawValue: code.values[0])
    else { return nil }
    self = .instancePermission(permission)
  }

  func isMet(by administrator: Administrator, in pool: Pool) -> Bool {
    switch self {
    case .permission(let permission): administrator.may(permission, in: pool)
    case .instancePermission(let permission): administrator.may(permission, in: nil)
    }
  }
}
