import Identity
import Localization
import Templating

struct ChartTable: Sendable {
  enum Cell: Sendable {
    case text(Message)
    case number(Int)
    case share(Int, of: Int)
    case signed(Int)
    case day(Day)
    case moment(Instant, Times)

    var message: Message {
      switch self {
      case .text(let message): message
      case .number(let number): .value(.number(number))
      case .share(let part, let whole): Meter.percent(part, of: whole)
      case .signed(let number): .value(.signed(number))
      case .day(let day): .value(Times.value(day))
      case .moment(let instant, let times): .value(times.value(instant))
      }
    }

    fileprivate func text(_ catalog: Catalog) -> String {
      switch self {
      case .text, .share: catalog.text(message)
      case .number(let number), .signed(let number): String(number)
      case .day(let day): day.description
      case .moment(let instant, _): instant.rfc3339Milliseconds
      }
    }
  }

  let caption: Message
  /// The headings; the first column names the row.
  let columns: [Message]
  let rows: [[Cell]]

  var markup: Markup {
    var html = HTML()
    html.raw("<table><caption class=\"visually-hidden\">")
    html.message(caption)
    html.raw("</caption><thead><tr>")
    for (index, column) in columns.enumerated() {
      html.raw(index == 0 ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"num\">")
      html.message(column)
      html.raw("</th>")
    }
    html.raw("</tr></thead><tbody>")
    for row in rows {
      html.raw("<tr>")
      for (index, cell) in row.enumerated() {
        html.raw(index == 0 ? "<th scope=\"row\">" : "<td class=\"num\">")
        html.message(cell.message)
        html.raw(index == 0 ? "</th>" : "</td>")
      }
      html.raw("</tr>")
    }
    html.raw("</tbody></table>")
    return html.markup
  }

  /// The table as a file, with numbers without separators and times in UTC.
  func csv(_ catalog: Catalog) -> CSV {
    var csv = CSV(columns.map { catalog.text($0) })
    for row in rows { csv.add(row.map { $0.text(catalog) }) }
    return csv
  }
}
