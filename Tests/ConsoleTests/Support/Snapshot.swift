import Foundation
import Testing

/// Compares a page with the file kept of it.
///
/// `COUNTERSIGN_RECORD_SNAPSHOTS=1` writes the files anew; look at what changed before you keep it.
enum Snapshot {
  static func check(
    _ text: String, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../__Snapshots__/\(name)").standardized
    if ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
      return
    }
    guard let kept = try? String(contentsOf: file, encoding: .utf8) else {
      Issue.record("no snapshot \(name) yet", sourceLocation: sourceLocation)
      return
    }
    let (now, then) = (text.split(separator: "\n"), kept.split(separator: "\n"))
    let line =
      zip(now, then).enumerated().first { $1.0 != $1.1 }?.offset ?? min(now.count, then.count)
    #expect(
      text == kept,
      "\(name), line \(line + 1): \(line < now.count ? now[line] : "(end)")",
      sourceLocation: sourceLocation)
  }
}
