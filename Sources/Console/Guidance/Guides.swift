import HTTP
import Host
import Identity
import Localization
import Markdown
import OTP
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

/// A guide's HTML with placeholders for values that differ between pools.
///
/// Values are escaped and inserted after the Markdown is rendered, so that they're never parsed as
/// Markdown or HTML.
struct GuideText: Sendable {
  private enum Piece: Sendable {
    case html(Markup)
    case gap(GuideGap)
  }

  private let pieces: [Piece]

  let headings: [GuideHeading]

  /// Finds the placeholders of a rendered guide, and makes its code samples copyable.
  init(_ document: MarkdownDocument, sketches: [String: String]) throws(UnknownGap) {
    var layout = GuideLayout(document, sketches: sketches)
    var pieces: [Piece] = []
    let html = try layout.page()
    var rest = html[...]
    while let start = rest.firstRange(of: "{{"),
      let end = rest[start.upperBound...].firstRange(of: "}}")
    {
      let name = String(rest[start.upperBound..<end.lowerBound])
      guard let gap = GuideGap(rawValue: name) else { throw UnknownGap(name: name) }
      pieces += [.html(Markup(trusted: String(rest[..<start.lowerBound]))), .gap(gap)]
      rest = rest[end.upperBound...]
    }
    self.pieces = pieces + [.html(Markup(trusted: String(rest)))]
    headings = layout.contents
  }

  func markup(_ values: GuideValues) -> Markup {
    var html = HTML()
    for piece in pieces {
      switch piece {
      case .html(let markup): html.add(markup)
      case .gap(.window): html.message(values.window)
      case .gap(.tenantComparison): html.message(values.tenantComparison)
      case .gap(let gap): html.text(values[gap])
      }
    }
    return html.markup
  }
}

/// A placeholder or directive in a guide that isn't known.
struct UnknownGap: Error, CustomStringConvertible {
  let name: String
  var description: String { "unknown placeholder {{\(name)}}" }
}

/// The placeholders of guides, such as `{{address}}`.
enum GuideGap: String, CaseIterable, Sendable {
  case address, host, port, project, tenant, key
  /// The pool in the path of an API call with a token.
  case pool
  /// The path of the configuration of MFA in an API call with a token.
  case configuration
  /// The member of the configuration, and its field mask.
  case member
  /// The beginning of the Node.js Admin SDK's call that writes the configuration.
  case nodeUpdate
  /// The JSON member that names the tenant, after a comma; empty for a project.
  case tenantMember
  /// The claim `firebase.tenant` of the pool's ID tokens, in JavaScript; `undefined` for a project.
  case tenantClaim
  /// What ``tenantClaim`` is, as a sentence: ``GuideValues/tenantComparison``.
  case tenantComparison
  /// The current code acceptance window, as a phrase within a sentence: ``GuideValues/window``.
  case window
}

/// The values for a guide's placeholders: those of a pool, or generic names.
struct GuideValues: Sendable {
  private var texts: [GuideGap: String]
  private(set) var window = Message(
    """
    within the window that the MFA policy sets (by default, 5 adjacent intervals of 30 seconds on \
    each side)
    """)
  /// What the claim `firebase.tenant` is compared with, and whether to replace it.
  private(set) var tenantComparison = Message(
    """
    TENANT_ID below is a placeholder: replace it with the ID of your tenant. For the project’s \
    own users, replace it and its quotation marks with undefined; otherwise, none of these users \
    get through.
    """)

  subscript(_ gap: GuideGap) -> String { texts[gap] ?? "" }

  /// Creates generic values, such as `PROJECT_ID`.
  init(_ publicURL: PublicURL) {
    texts = [
      .address: publicURL.origin, .host: publicURL.host, .port: publicURL.port,
      .project: "PROJECT_ID",
      .tenant: "TENANT_ID", .key: "API_KEY",
      .pool: "projects/PROJECT_ID", .configuration: "projects/PROJECT_ID/config", .member: "mfa",
      .nodeUpdate: "projectConfigManager().updateProjectConfig({",
      .tenantClaim: "\"TENANT_ID\"",
    ]
  }

  /// The key stays generic if the reader can't view it, and so does an ID with characters that have
  /// a special meaning in a shell or a program.
  init(_ publicURL: PublicURL, pool: Pool, key: APIKey?, configuration: MFAConfiguration?) {
    self.init(publicURL)
    fill(.project, pool.project.text)
    fill(.key, key?.text)
    texts[.pool] = "projects/\(self[.project])"
    texts[.configuration] = "projects/\(self[.project])/config"
    texts[.tenantClaim] = "undefined"
    tenantComparison = Message(
      """
      For the project’s own users, as here, the comparison is with undefined. For the users of a \
      tenant, replace this with the tenant’s ID in quotation marks.
      """)
    if let tenant = pool.tenant {
      fill(.tenant, tenant.text)
      texts[.pool] = "projects/\(self[.project])/tenants/\(self[.tenant])"
      texts[.configuration] = texts[.pool]
      texts[.member] = "mfaConfig"
      texts[.nodeUpdate] = "tenantManager().updateTenant(\"\(self[.tenant])\", {"
      texts[.tenantMember] = ", \"tenantId\": \"\(self[.tenant])\""
      texts[.tenantClaim] = "\"\(self[.tenant])\""
      tenantComparison =
        self[.tenant] == tenant.text
        ? Message(
          """
          The comparison is with the ID of this tenant. For the project’s own users, replace it \
          and its quotation marks with undefined.
          """)
        : Message(
          """
          TENANT_ID below is a placeholder: replace it with the ID of your tenant. For the \
          project’s own users, replace it and its quotation marks with undefined; otherwise, none \
          of these users get through.
          """)
    }
    guard let configuration else { return }
    window = Self.window(configuration)
  }

  private static func window(_ configuration: MFAConfiguration) -> Message {
    let intervals = configuration.window.adjacentIntervals
    guard intervals > 0 else {
      return configuration.isTOTPOn
        ? Message("only within its own 30 seconds")
        : Message("only within its own 30 seconds, as soon as TOTP is turned on")
    }
    return configuration.isTOTPOn
      ? Message(
        one: "within {count} adjacent interval of 30 seconds on each side",
        other: "within {count} adjacent intervals of 30 seconds on each side",
        ["count": .number(intervals)])
      : Message(
        one: """
          within {count} adjacent interval of 30 seconds on each side, as soon as TOTP is turned \
          on
          """,
        other: """
          within {count} adjacent intervals of 30 seconds on each side, as soon as TOTP is turned \
          on
          """, ["count": .number(intervals)])
  }

  /// Fills a placeholder with an ID, if it's safe in a shell or a program.
  private mutating func fill(_ gap: GuideGap, _ id: String?) {
    guard let id, !id.isEmpty, id.utf8.allSatisfy(Self.isPlain) else { return }
    texts[gap] = id
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension Pool {
  func guidance(_ path: String = ConsolePaths.guidance()) -> String {
    var query: Form = ["project": project.text]
    if let tenant { query.add("tenant", tenant.text) }
    return query.query(of: path)
  }
}
