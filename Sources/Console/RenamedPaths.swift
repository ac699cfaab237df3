import HTTP

/// The paths of version 0.1, which redirect to the current ones for one release.
enum RenamedPaths {
  private static let segments: [(old: String, new: String)] = [
    ("verdicts", "code-attempts"), ("enrolment-link", "enrollment-link"), ("desk", "support"),
    ("enrol", "enroll"), ("signers", "custom-token-keys"), ("outbox", "messages"),
    ("release", "blocked-agents"), ("what-if", "sign-in-simulator"),
  ]

  /// The current address of a page; nil if its path wasn't renamed.
  static func address(for target: Target) -> String? {
    let parts = target.rawPath.utf8.split(separator: UInt8(ascii: "/"))
    guard let first = parts.first,
      ["projects", "__", "what-if"].contains(where: { first.elementsEqual($0.utf8) })
    else { return nil }
    var isRenamed = false
    let renamed = parts.map { part in
      guard let segment = segments.first(where: { $0.old.utf8.elementsEqual(part) }) else {
        return String(decoding: part, as: UTF8.self)
      }
      isRenamed = true
      return segment.new
    }
    guard isRenamed else { return nil }
    let path = "/" + renamed.joined(separator: "/")
    return target.rawQuery.map { "\(path)?\($0)" } ?? path
  }
}
