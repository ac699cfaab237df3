import Localization
import Markdown
import Templating
import Text

/// Turns the HTML of a rendered guide into that of the page, line by line.
///
/// Each code sample becomes a scrollable, copyable box labeled with its heading. A heading that
/// ends with a platform's name, its text, and its sample are shown for that platform only; so is
/// everything between `{{only web}}` and `{{end}}`. `{{sketch name}}` inserts an image.
struct GuideLayout {
  /// The headings of the second level.
  private(set) var contents: [GuideHeading] = []
  private(set) var hasPlatforms = false

  private let html: String
  private let sketches: [String: String]
  private var headings: ArraySlice<MarkdownDocument.Heading>
  /// The heading of the samples, and their number below it.
  private var heading = ""
  private var samples = 0
  /// The platforms of the lines between `{{only}}` and `{{end}}`; nil outside.
  private var only: [GuidePlatform]?
  /// Whether the lines after a platform's heading are in an element for that platform.
  private var isInPane = false
  private var lines: [String] = []

  init(_ document: MarkdownDocument, sketches: [String: String]) {
    html = document.html
    headings = document.headings[...]
    self.sketches = sketches
  }

  /// - Throws: ``UnknownGap`` for an unknown directive or platform, or a missing end.
  mutating func page() throws(UnknownGap) -> String {
    var sample: [Substring]?
    // libcmark starts each block on a new line and escapes samples.
    for line in html.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "</code></pre>", let code = sample {
        add(sample: code)
        sample = nil
      } else if sample != nil {
        sample?.append(line)
      } else if line.hasPrefix("<pre><code") {
        sample = [line]
      } else if line.hasPrefix("<h"), let next = headings.first, line.contains("\"\(next.id)\"") {
        headings.removeFirst()
        add(next, line)
      } else if line.hasPrefix("<p>{{"), line.hasSuffix("}}</p>"),
        line.contains(" ") || line == "<p>{{end}}</p>"
      {
        try follow(line.dropFirst(5).dropLast(6))
      } else {
        lines.append(String(line))
      }
    }
    endPane()
    guard only == nil else { throw UnknownGap(name: "only") }
    return lines.joined(separator: "\n")
  }

  private mutating func add(_ next: MarkdownDocument.Heading, _ line: Substring) {
    endPane()
    (heading, samples) = (next.text, 0)
    if next.level == 2 {
      contents.append(GuideHeading(text: next.text, href: "#" + next.id, platforms: only))
    } else if let platform = GuidePlatform(heading: next.text) {
      isInPane = true
      hasPlatforms = true
      lines.append(Self.pane([platform]))
    }
    lines.append(String(line))
  }

  /// A platform's sample is the last of what is shown for that platform only.
  private mutating func endPane() {
    if isInPane { lines.append("</div>") }
    isInPane = false
  }

  private mutating func follow(_ directive: Substring) throws(UnknownGap) {
    endPane()
    let words = directive.split(separator: " ").map(String.init)
    let platforms = words.dropFirst().compactMap(GuidePlatform.init(rawValue:))
    switch (words.first, only) {
    case ("only", nil) where !platforms.isEmpty && platforms.count == words.count - 1:
      only = platforms
      hasPlatforms = true
      lines.append(Self.pane(platforms))
    case ("end", .some) where words.count == 1:
      only = nil
      lines.append("</div>")
    case ("sketch", _) where words.count == 2 && sketches[words[1]] != nil:
      lines.append("<figure class=\"sketch\">\(sketches[words[1]] ?? "")</figure>")
    default: throw UnknownGap(name: String(directive))
    }
  }

  private static func pane(_ platforms: [GuidePlatform]) -> String {
    "<div class=\"pane\" data-for=\"\(GuidePlatform.names(platforms))\">"
  }

  /// `code` has the escaped lines; the first one begins with the start tags.
  private mutating func add(sample code: [Substring]) {
    samples += 1
    let label = (samples == 1 ? heading : "\(heading), \(samples)").escapedForHTML
    let first = code[0].dropFirst("<pre><code".count)
    let language = first.prefix { $0 != ">" }.split(separator: "\"").last?
      .dropFirst("language-".count)
    let escaped =
      ([first.drop { $0 != ">" }.dropFirst()] + code.dropFirst())
      .joined(separator: "\n") + "\n"
    let colored = language.flatMap { SyntaxHighlighter($0) }?.html(Self.unescaped(escaped))
    lines.append(
      """
      <div class="code"><pre data-copy tabindex="0" aria-label="\(label)">\
      <code>\(colored ?? escaped)</code></pre></div>
      """)
    endPane()
  }

  private static func unescaped(_ html: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(html.utf8.count)
    var rest = html.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
      bytes += rest[..<start]
      rest = rest[start...]
      let (reference, byte) = references.first { rest.starts(with: $0.0.utf8) } ?? ("&", rest.first)
      if let byte { bytes.append(byte) }
      rest = rest.dropFirst(reference.utf8.count)
    }
    return String(decoding: bytes + rest, as: UTF8.self)
  }

  /// The characters that libcmark escapes.
  private static let references: [(String, UInt8?)] = [
    ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
    ("&amp;", UInt8(ascii: "&")),
  ]
}

struct GuideHeading: Sendable, ViewModel {
  let text: String
  let href: String
  /// The platforms that the section is shown for; nil for all.
  let platforms: [GuidePlatform]?

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .text("panes") { $0.platforms.map(GuidePlatform.names) },
  ]
}

/// A platform that guides have code samples for; one is shown at a time.
enum GuidePlatform: String, CaseIterable, Sendable {
  case web, kotlin, java, swift, objc, rest

  /// The end of the headings of this platform's samples, such as "Sign in: Android, Kotlin".
  var heading: String {
    switch self {
    case .web: "web"
    case .kotlin: "Android, Kotlin"
    case .java: "Android, Java"
    case .swift: "iOS, Swift"
    case .objc: "iOS, Objective-C"
    case .rest: "REST"
    }
  }

  var name: Message {
    switch self {
    case .web: Message("Web")
    case .kotlin: Message("Android (Kotlin)")
    case .java: Message("Android (Java)")
    case .swift: Message("iOS (Swift)")
    case .objc: Message("iOS (Objective-C)")
    case .rest: Message("REST API")
    }
  }

  /// The platform whose samples follow a heading; nil if they're for every platform.
  init?(heading: String) {
    guard let platform = Self.allCases.first(where: { heading.hasSuffix(": \($0.heading)") })
    else { return nil }
    self = platform
  }

  /// The value of `data-for` of an element that's only for some platforms.
  static func names(_ platforms: [GuidePlatform]) -> String {
    platforms.map(\.rawValue).joined(separator: " ")
  }
}
