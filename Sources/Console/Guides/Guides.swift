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
/// They're Markdown that can be read as it is: `README.md` is the overview, and
/// `TOPIC-TAB.md` a part of a guide. ``GuideSource`` says what's special in them.
final class Guides: Sendable {
  private let folder: String
  private let rendered = Mutex<GuideLibrary?>(nil)

  /// Checks that each file exists and can be read.
  init(folder: String) throws(ConsoleError) {
    self.folder = folder
    _ = try Self.read(overview)
    for topic in GuideTopic.allCases {
      for tab in GuideTab.allCases { _ = try Self.read(path(topic, tab)) }
    }
  }

  private var overview: String { "\(folder)/README.md" }

  private func path(_ topic: GuideTopic, _ tab: GuideTab) -> String {
    "\(folder)/\(topic.rawValue)-\(tab.rawValue).md"
  }

  func all() throws(ConsoleError) -> GuideLibrary {
    let result = rendered.withLock { rendered in
      Result { () throws(ConsoleError) in
        if let rendered { return rendered }
        let all = try render()
        rendered = all
        return all
      }
    }
    return try result.get()
  }

  private func render() throws(ConsoleError) -> GuideLibrary {
    var guides: [GuideTopic: [GuideTab: GuideLibrary.Part]] = [:]
    for topic in GuideTopic.allCases {
      for tab in GuideTab.allCases {
        let file = try source(path(topic, tab))
        guides[topic, default: [:]][tab] = GuideLibrary.Part(
          summary: file.summary, text: try text(file.blocks.joined(separator: "\n\n"), of: file))
      }
    }
    let file = try source(overview)
    guard let table = file.table else { throw .guide(overview, UnknownGap(name: "table")) }
    let rest = file.blocks.dropFirst().filter { !$0.hasPrefix("|") }
    return GuideLibrary(
      overview: GuideOverview(
        summary: try text(file.summary, of: file), columns: table.columns, rows: table.rows,
        text: try text(rest.joined(separator: "\n\n"), of: file)),
      guides: guides)
  }

  private func source(_ path: String) throws(ConsoleError) -> GuideSource {
    guard let source = GuideSource(path: path, try Self.read(path)) else {
      throw .guideWithoutTitle(path)
    }
    return source
  }

  private func text(_ markdown: String, of source: GuideSource) throws(ConsoleError) -> GuideText {
    var sketches: [String: String] = [:]
    for name in source.sketches { sketches[name] = try Self.read("\(folder)/sketches/\(name).svg") }
    do {
      return try GuideText(try renderHTML(markdown: markdown), sketches: sketches)
    } catch { throw .guide(source.path, error) }
  }

  private static func read(_ path: String) throws(ConsoleError) -> String {
    do { return String(decoding: try ReadableFile.contents(path), as: UTF8.self) } catch {
      throw .unreadable(path, error)
    }
  }
}

/// The overview of the guides, whose table compares the patterns.
struct GuideOverview: Sendable {
  struct Row: Sendable {
    let topic: GuideTopic
    let cells: [String]
  }

  let summary: GuideText
  /// The headings of the table.
  let columns: [String]
  let rows: [Row]
  let text: GuideText
}

/// The guides in one language.
struct GuideLibrary: Sendable {
  struct Part: Sendable {
    /// The first paragraph, without markup.
    let summary: String
    let text: GuideText
  }

  let overview: GuideOverview
  /// The parts of each topic, in the order of the tabs.
  let guides: [GuideTopic: [GuideTab: Part]]

  func part(_ topic: GuideTopic, _ tab: GuideTab) -> Part? { guides[topic]?[tab] }
}

/// The text of a guide's file, with placeholders and directives in place of what stands for them.
///
/// Words such as `PROJECT_ID` stand for values, and comments are the directives of ``GuideLayout``:
/// `<!-- only web -->`, `<!-- end -->`, `<!-- sketch enroll -->`.
struct GuideSource: Sendable {
  let path: String
  /// The paragraphs after the title.
  let blocks: [String]
  let sketches: [String]

  var summary: String {
    blocks.first?.split(separator: "\n").joined(separator: " ") ?? ""
  }

  /// Nil if the text doesn't begin with a heading and a paragraph.
  init?(path: String, _ text: String) {
    var lines: [String] = []
    var sketches: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("<!-- "), line.hasSuffix(" -->") else {
        lines.append(Self.withPlaceholders(String(line)))
        continue
      }
      let directive = line.dropFirst(5).dropLast(4)
      lines.append("{{\(directive)}}")
      if directive.hasPrefix("sketch ") { sketches.append(String(directive.dropFirst(7))) }
    }
    let blocks = lines.joined(separator: "\n").split(separator: "\n\n").map(String.init)
    guard blocks.count >= 3, blocks[0].hasPrefix("# ") else { return nil }
    self.path = path
    self.blocks = Array(blocks.dropFirst())
    self.sketches = sketches
  }

  /// What stands for a value, longer texts before those that they contain.
  private static let words: [(text: String, placeholder: String)] = [
    ("projects/PROJECT_ID/config?updateMask=mfa", "{{configuration}}?updateMask={{member}}"),
    ("\"mfa\": {", "\"{{member}}\": {"), ("projects/PROJECT_ID", "{{pool}}"),
    ("PROJECT_ID", "{{project}}"), (", \"tenantId\": \"TENANT_ID\"", "{{tenantMember}}"),
    ("!== \"TENANT_ID\"", "!== {{tenantClaim}}"), ("TENANT_ID", "{{tenant}}"),
    ("API_KEY", "{{key}}"), ("SMS_STATE", "{{smsState}}"),
    ("projectConfigManager().updateProjectConfig({", "{{nodeUpdate}}"),
    ("https://mfa.example.com", "{{address}}"), ("mfa.example.com", "{{host}}"),
    ("443", "{{port}}"), ("within the *window*", "{{window}}"),
  ]

  private static func withPlaceholders(_ line: String) -> String {
    words.reduce(line) { line, word in
      line.contains(word.text) ? line.replacing(word.text, with: word.placeholder) : line
    }
  }

  /// The table that compares the patterns; nil if there's none, or a row leads to no guide.
  ///
  /// CommonMark has no tables. A cell has no markup; the first one of a row is a link.
  var table: (columns: [String], rows: [GuideOverview.Row])? {
    guard let table = blocks.first(where: { $0.hasPrefix("|") }) else { return nil }
    let lines = table.split(separator: "\n").map { line in
      line.split(separator: /\s*\|\s*/).map(String.init)
    }
    guard lines.count > 2 else { return nil }
    var rows: [GuideOverview.Row] = []
    for cells in lines.dropFirst(2) {
      guard let link = cells.first?.wholeMatch(of: /\[.*\]\(([a-z-]+)-concept\.md\)/),
        let topic = GuideTopic(rawValue: String(link.1)), cells.count == lines[0].count
      else { return nil }
      rows.append(GuideOverview.Row(topic: topic, cells: Array(cells.dropFirst())))
    }
    return (columns: lines[0], rows: rows)
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
  /// Whether parts of the text are shown for some platforms only.
  let hasPlatforms: Bool

  /// Finds the placeholders of a rendered guide, and makes its code samples copyable.
  init(_ document: MarkdownDocument, sketches: [String: String]) throws(UnknownGap) {
    var layout = GuideLayout(document, sketches: sketches)
    var pieces: [Piece] = []
    let html = try Self.leading(try layout.page())
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
    hasPlatforms = layout.hasPlatforms
  }

  /// The text with links to pages in place of links to files.
  private static func leading(_ html: String) throws(UnknownGap) -> String {
    var result = ""
    var rest = html[...]
    while let link = rest.firstMatch(of: /href=\u{22}([A-Za-z-]+)\.md/) {
      let file = String(link.1)
      guard let path = address(of: file) else { throw UnknownGap(name: file) }
      result += rest[..<link.range.lowerBound]
      result += "href=\"\(path){{query}}"
      rest = rest[link.range.upperBound...]
    }
    return result + rest
  }

  private static func address(of file: String) -> String? {
    if file == "README" { return ConsolePaths.guides() }
    guard let hyphen = file.lastIndex(of: "-"),
      let topic = GuideTopic(rawValue: String(file[..<hyphen])),
      let tab = GuideTab(rawValue: String(file[file.index(after: hyphen)...]))
    else { return nil }
    return topic.path(tab)
  }

  func markup(_ values: GuideValues) -> Markup {
    var html = HTML()
    for piece in pieces {
      switch piece {
      case .html(let markup): html.add(markup)
      case .gap(.window): html.add("\(values.window)")
      case .gap(let gap): html.add("\(values[gap])")
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
  /// Whether SMS is on, as the Admin SDK says it.
  case smsState
  /// The query of the guides' addresses, which names the pool.
  case query
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

  subscript(_ gap: GuideGap) -> String { texts[gap] ?? "" }

  /// Creates generic values, such as `PROJECT_ID`.
  init(_ publicURL: PublicURL) {
    texts = [
      .address: publicURL.origin, .host: publicURL.host, .port: publicURL.port,
      .project: "PROJECT_ID",
      .tenant: "TENANT_ID", .key: "API_KEY",
      .pool: "projects/PROJECT_ID", .configuration: "projects/PROJECT_ID/config", .member: "mfa",
      .nodeUpdate: "projectConfigManager().updateProjectConfig({",
      .tenantMember: ", \"tenantId\": \"TENANT_ID\"", .tenantClaim: "\"TENANT_ID\"",
      .smsState: "SMS_STATE",
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
    texts[.tenantMember] = nil
    texts[.query] = pool.guides("")
    if let tenant = pool.tenant {
      fill(.tenant, tenant.text)
      texts[.pool] = "projects/\(self[.project])/tenants/\(self[.tenant])"
      texts[.configuration] = texts[.pool]
      texts[.member] = "mfaConfig"
      texts[.nodeUpdate] = "tenantManager().updateTenant(\"\(self[.tenant])\", {"
      texts[.tenantMember] = ", \"tenantId\": \"\(self[.tenant])\""
      texts[.tenantClaim] = "\"\(self[.tenant])\""
    }
    guard let configuration else { return }
    window = Self.window(configuration)
    let isOn = configuration.state == .enabled || configuration.state == .mandatory
    texts[.smsState] = isOn ? "ENABLED" : "DISABLED"
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
  func guides(_ path: String = ConsolePaths.guides()) -> String {
    var query: Form = ["project": project.text]
    if let tenant { query.add("tenant", tenant.text) }
    return query.query(of: path)
  }
}
