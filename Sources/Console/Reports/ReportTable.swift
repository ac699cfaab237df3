import Identity
import Localization
import Templating

struct ReportTable: ViewModel {
  /// The number of different users in the rows, each of which begins with one.
  var people: Int {
    Set(
      rows.compactMap { row -> [UInt8]? in
        if case .name(_, let href?)? = row.first { Array(href.utf8) } else { nil }
      }
    ).count
  }

  /// Appends a row with a note, which says that the file is incomplete.
  mutating func end(with note: Message) {
    rows.append([.text(note)] + columns.dropFirst().map { _ in .text(.verbatim("")) })
  }

  enum Cell: Sendable {
    case text(Message)
    case number(Int)
    case share(Int, of: Int)
    case name(String, href: String? = nil)
    /// A day, the same in every time zone.
    case day(Day)
    case moment(Instant?)
    /// The end of something that's chosen by its last day.
    case end(Instant)
    /// Markup, and the same as text for the file.
    case marked(Markup?, Message)

    fileprivate var isNumber: Bool {
      switch self {
      case .number, .share: true
      default: false
      }
    }

    func markup(_ times: Times) -> Markup {
      switch self {
      case .text(let message): Markup(escaping: message)
      case .number(let number): Markup(escaping: Message.value(.number(number)))
      case .share(let part, let whole): Meter.share(part, of: whole)
      case .name(let name, let href): Self.name(Formatted.short(name), href)
      case .day(let day): Markup(escaping: Message.value(Times.value(day)))
      case .moment(let moment): moment.map(times.moment) ?? AccountChips.never
      case .end(let end): times.end(end)
      case .marked(let markup, _): markup ?? HTML.none
      }
    }

    fileprivate func text(_ catalog: Catalog) -> String {
      switch self {
      case .text(let message), .marked(_, let message): catalog.text(message)
      case .number(let number): String(number)
      case .share(let part, let whole): catalog.text(Meter.percent(part, of: whole))
      case .name(let name, _): name
      case .day(let day): day.description
      case .moment(let moment): moment?.rfc3339Milliseconds ?? ""
      case .end(let end): end.rfc3339Milliseconds
      }
    }

    private static func name(_ name: String, _ href: String?) -> Markup {
      if name.isEmpty { return HTML.none }
      guard let href else { return HTML.isolated(name) }
      var html = HTML()
      html.raw("<a class=\"who clamp\" href=\"")
      html.text(href)
      html.raw("\">")
      html.add(HTML.isolated(name))
      html.raw("</a>")
      return html.markup
    }
  }

  let caption: Message
  /// The headings; the first column names the row.
  let columns: [Message]
  var rows: [[Cell]] = []
  let times: Times

  /// The table as a file, with numbers without separators and times in UTC.
  func csv(_ catalog: Catalog) -> CSV {
    var csv = CSV(columns.map { catalog.text($0) })
    for row in rows { csv.add(row.map { $0.text(catalog) }) }
    return csv
  }

  static let keys: Keys<Self> = [
    .text(\.caption),
    .list("columns") { table in
      table.columns.enumerated().map { index, column in
        ReportColumn(name: column, isNumber: table.rows.first?[index].isNumber ?? false)
      }
    },
    .list("rows") { table in
      table.rows.map { ReportRow(cells: $0, columns: table.columns, times: table.times) }
    },
  ]
}

struct ReportColumn: ViewModel {
  let name: Message
  let isNumber: Bool

  static let keys: Keys<Self> = [
    .text(\.name),
    .flag(\.isNumber),
  ]
}

struct ReportRow: ViewModel {
  let cells: [ReportTable.Cell]
  let columns: [Message]
  let times: Times

  static let keys: Keys<Self> = [
    .markup("head") { row in row.cells.first.map { $0.markup(row.times) } },
    .list("cells") { row in
      zip(row.cells, row.columns).dropFirst().map { cell, column in
        ReportCell(
          column: column, isNumber: cell.isNumber, content: cell.markup(row.times))
      }
    },
  ]
}

struct ReportCell: ViewModel {
  let column: Message
  let isNumber: Bool
  let content: Markup

  static let keys: Keys<Self> = [
    .text(\.column),
    .flag(\.isNumber),
    .markup(\.content),
  ]
}
