import Foundation
import Testing

/// A page of the documentation that a test makes.
enum DocumentFile {
  /// The text of a page; with `COUNTERSIGN_RECORD_SNAPSHOTS=1` it is written anew first, which
  /// fails the run.
  static func kept(_ name: String, as text: String) throws -> String {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../docs/\(name)").standardized.path
    if ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1" {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      Issue.record("recorded docs/\(name); run again without COUNTERSIGN_RECORD_SNAPSHOTS")
    }
    return try String(contentsOfFile: path, encoding: .utf8)
  }
}
