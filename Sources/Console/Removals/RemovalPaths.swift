public import HTTP
import Identity
import Text

extension ConsolePaths {
  // Not below `users`, because a UID can be any word.
  static let removals = PoolPath0("bulk-removals")
  static let bulkRemoval = PoolPath1("bulk-removals", nil)
  static let endOfRemoval = PoolPath1("bulk-removals", nil, "end")
  static let undoOfBulkRemoval = PoolPath1("bulk-removals", nil, "undo")
  static let removalFile = PoolPath1("bulk-removals", nil, "result.csv")
}

extension Console {
  /// Returns the maximum size of a request body in bytes; nil for the default.
  ///
  /// Bulk removals accept larger bodies, because a pasted list can have all columns of a table.
  public static func bodyLimit(_ target: Target) -> Int? {
    let segments = target.segments
    guard segments.last == "bulk-removals" else { return nil }
    let isOfPool = segments.first == "projects" && (segments.count == 3 || segments.count == 5)
    return isOfPool ? 4 << 20 : nil
  }
}
