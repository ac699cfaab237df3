import Foundation
import Testing

/// Compares a page with its snapshot.
///
/// `COUNTERSIGN_RECORD_SNAPSHOTS=1` records the files again and fails the run, so that a run never
/// passes against files that it wrote itself. Review the changes before you commit them.
enum Snapshot {
  /// Compares the parts that are specific to the page: its title and `<main>`.
  static func check(
    _ page: String, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    guard let title = page.firstRange(of: /<title>.*?<\/title>/),
      let main = page.firstRange(of: /<main[\s\S]*<\/main>/)
    else {
      Issue.record("\(name) has no title or no <main>", sourceLocation: sourceLocation)
      return
    }
    try compare("\(page[title])\n\(page[main])\n", named: name, sourceLocation: sourceLocation)
  }

  /// Compares the frame around `<main>`, which many pages share.
  static func checkFrame(
    of page: String, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let frame = page.replacing(/<main([^>]*)>[\s\S]*<\/main>/) { "<main\($0.1)>…</main>" }
    try compare(frame, named: name, sourceLocation: sourceLocation)
  }

  /// Compares a part of a page, such as a drawing.
  static func check(
    part: String, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try compare(part + "\n", named: name, sourceLocation: sourceLocation)
  }

  private static func compare(
    _ text: String, named name: String, sourceLocation: SourceLocation
  ) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../__Snapshots__/\(name)").standardized
    if Recording.isOn {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
      Recording.fail(name, sourceLocation: sourceLocation)
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

/// Recording of the files that tests compare with.
enum Recording {
  static let isOn = ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1"

  /// Fails the run, because recording compares nothing.
  static func fail(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record(
      "recorded \(name); run again without COUNTERSIGN_RECORD_SNAPSHOTS",
      sourceLocation: sourceLocation)
  }
}
