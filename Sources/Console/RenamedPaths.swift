import HTTP
import Text

/// The addresses that pages had in version 0.1, which redirect for one release.
enum RenamedPaths {
  private static let segments: [UntrustedText: String] = [
    "verdicts": "code-attempts", "enrolment-link": "enrollment-link", "desk": "support",
    "enrol": "enroll",
  ]

  /// Where a page is now; nil for an address that never had another name.
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
