import HTTP
import Text

/// The paths of version 0.1, which redirect to the current ones for one release.
enum RenamedPaths {
  private static let segments: [UntrustedText: String] = [
    "verdicts": "code-attempts", "enrolment-link": "enrollment-link", "desk": "support",
    "enrol": "enroll",
  ]

  /// The current address of a page; nil if its path wasn't renamed.
  static func address(for target: Target) -> String? {
    guard let first = target.segments.first, first == "projects" || first == "__" else {
      return nil
    }
    let parts = target.rawPath.split(separator: "/", omittingEmptySubsequences: false)
    let renamed = parts.map { part in segments[UntrustedText(String(part))] ?? String(part) }
    let path = renamed.joined(separator: "/")
    guard path.utf8.count != target.rawPath.utf8.count else { return nil }
    return target.rawQuery.map { "\(path)?\($0)" } ?? path
  }
}
