import Host
import Identity
import Markdown
import Synchronization
import Templating

/// The guides that ship with the product, rendered when the first one is viewed.
///
/// Rendering all of them takes a sixth of the server's start, and most instances' administrators
/// never view one.
///
/// A line `{{> name}}` of a guide includes the file `parts/name.md`, and a line `{{sketch name}}`
/// the image `sketches/name.svg`.
final class Guides: Sendable {
  struct Guide: Sendable {
    let pattern: EnrollmentPattern
    let summary: String
    let text: GuideText
  }

  private let folder: String
  private let rendered = Mutex<[Guide]?>(nil)

  /// Checks that there's a Markdown file for each enrollment pattern, which can be read.
  init(folder: String) throws(ConsoleError) {
    self.folder = folder
    for pattern in EnrollmentPattern.allCases {
      _ = try Self.read(Self.path(of: pattern, in: folder))
    }
  }

  /// Returns the guides in the order of the patterns.
  func all() throws(ConsoleError) -> [Guide] {
    let result = rendered.withLock { rendered in
      Result { () throws(ConsoleError) in
        if let rendered { return rendered }
        var all: [Guide] = []
        for pattern in EnrollmentPattern.allCases { all.append(try guide(to: pattern)) }
        rendered = all
        return all
      }
    }
    return try result.get()
  }

  private func guide(to pattern: EnrollmentPattern) throws(ConsoleError) -> Guide {
    let path = Self.path(of: pattern, in: folder)
    let source = try Self.whole(try Self.read(path), parts: folder + "/parts")
    let sketches = try Self.sketches(in: source, folder: folder + "/sketches")
    let guide: Guide?
    do { guide = try Guide(pattern, source: source, sketches: sketches) } catch {
      throw .guide(path, error)
    }
    guard let guide else { throw .guideWithoutTitle(path) }
    return guide
  }

  private static func path(of pattern: EnrollmentPattern, in folder: String) -> String {
    "\(folder)/\(pattern.rawValue).md"
  }

  /// The text with its parts included.
  private static func whole(_ source: String, parts folder: String) throws(ConsoleError) -> String {
    var lines: [String] = []
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("{{> "), line.hasSuffix("}}") else {
        lines.append(String(line))
        continue
      }
      lines.append(try read("\(folder)/\(line.dropFirst(4).dropLast(2)).md"))
    }
    return lines.joined(separator: "\n")
  }

  private static func sketches(
    in source: String, folder: String
  ) throws(ConsoleError) -> [String: String] {
    var sketches: [String: String] = [:]
    for line in source.split(separator: "\n") where line.hasPrefix("{{sketch ") {
      let name = String(line.dropFirst(9).dropLast(2))
      sketches[name] = try read("\(folder)/\(name).svg")
    }
    return sketches
  }

  private static func read(_ path: String) throws(ConsoleError) -> String {
    do { return String(decoding: try ReadableFile.contents(path), as: UTF8.self) } catch {
      throw .unreadable(path, error)
    }
  }
}

extension Guides.Guide {
  /// Creates a guide whose title is the first heading and whose summary is the first paragraph.
  fileprivate init?(
    _ pattern: EnrollmentPattern, source: String, sketches: [String: String]
  ) throws {
    let blocks = source.split(separator: "\n\n", maxSplits: 2)
    guard blocks.count == 3, blocks[0].hasPrefix("# ") else { return nil }
    self.pattern = pattern
    summary = blocks[1].split(separator: "\n").joined(separator: " ")
    let document = try renderHTML(markdown: String(blocks[1] + "\n\n" + blocks[2]))
    text = try GuideText(document, sketches: sketches)
  }
}
