import Foundation
import Testing

/// Requirements for the markup of every page.
enum Markup {
  private static let voidElements: Set = [
    "meta", "link", "input", "hr", "br", "wbr", "path", "rect", "circle", "line", "use", "img",
  ]

  static func check(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
    for fault in faults(of: answer.text) {
      Issue.record("\(answer.address): \(fault)", sourceLocation: sourceLocation)
    }
  }

  static func faults(of page: String) -> [String] {
    var faults: [String] = []
    let tags = tags(of: page, &faults)
    faults += nesting(of: tags)
    let names = tags.filter { !$0.isEnd }.map(\.name)
    if names.count(where: { $0 == "h1" }) != 1 { faults.append("not exactly one h1") }
    if names.count(where: { $0 == "main" }) != 1 { faults.append("not exactly one main") }
    if names.count(where: { $0 == "title" }) != 1 { faults.append("not exactly one title") }
    // Pages that use passkeys, the form of a policy, and that of a key file have a script for it.
    let scripts = tags.filter { $0.name == "script" && !$0.isEnd }
    let hasOwnScript = tags.contains { tag in
      ["data-passkey", "data-stored", "data-fills"].contains { tag.attributes[$0] != nil }
    }
    if scripts.count != (hasOwnScript ? 2 : 1) { faults.append("\(scripts.count) scripts") }
    for script in scripts where script.attributes["src"] == nil { faults.append("inline script") }
    for name in ["style", "img", "object", "embed", "base"] where names.contains(name) {
      faults.append("a <\(name)>")
    }
    // Previews of emails are shown without any rights.
    for frame in tags where frame.name == "iframe" && !frame.isEnd {
      if frame.attributes["sandbox"] != "" || frame.attributes["src"] != nil {
        faults.append("an <iframe> with rights")
      }
    }
    // A screen reader lists tables by their captions.
    for (table, next) in zip(names, names.dropFirst()) where table == "table" && next != "caption" {
      faults.append("a <table> without a caption")
    }
    faults += attributes(of: tags)
    faults += labels(of: tags)
    return faults
  }

  /// Checks that there are no inline styles or handlers, that IDs are unique, and that references
  /// to them resolve.
  private static func attributes(of tags: [Tag]) -> [String] {
    var faults: [String] = []
    var ids: Set<String> = []
    for tag in tags {
      for (name, value) in tag.attributes {
        if name == "style" || name.hasPrefix("on") { faults.append("\(name) on <\(tag.name)>") }
        if name == "id", !ids.insert(value).inserted { faults.append("duplicate id \(value)") }
        // Links to a user's application, and to Google, are external, and send no referrer.
        let leadsAway = name == "href" && tag.attributes["rel"] == "noreferrer"
        if leadsAway, value.hasPrefix("http://") || value.hasPrefix("https://") { continue }
        if ["href", "action", "formaction", "src"].contains(name), !value.hasPrefix("/"),
          !value.hasPrefix("#"),
          !value.hasPrefix("otpauth://totp/")
        {
          faults.append("\(name)=\(value)")
        }
      }
    }
    for tag in tags {
      for (name, value) in tag.attributes {
        let isReference = ["aria-describedby", "aria-labelledby", "for"].contains(name)
        for id in value.split(separator: " ") where isReference && !ids.contains(String(id)) {
          faults.append("\(name) names \(id), which doesn't exist")
        }
        if name == "href", value.hasPrefix("#"), !ids.contains(String(value.dropFirst())) {
          faults.append("a link to \(value), which doesn't exist")
        }
      }
    }
    if tags.first(where: { $0.name == "html" })?.attributes["lang"] == nil {
      faults.append("no lang")
    }
    return faults
  }

  /// Checks that every visible field has a label.
  private static func labels(of tags: [Tag]) -> [String] {
    let labeled = Set(tags.filter { $0.name == "label" }.compactMap { $0.attributes["for"] })
    return tags.compactMap { tag in
      guard ["input", "select", "textarea"].contains(tag.name), !tag.isEnd,
        tag.attributes["type"] != "hidden", tag.attributes["aria-label"] == nil,
        !labeled.contains(tag.attributes["id"] ?? "")
      else { return nil }
      return "no label for \(tag.attributes["name"] ?? "a field")"
    }
  }

  private static func nesting(of tags: [Tag]) -> [String] {
    var open: [String] = []
    for tag in tags where !voidElements.contains(tag.name) {
      if !tag.isEnd {
        open.append(tag.name)
      } else if open.popLast() != tag.name {
        return ["</\(tag.name)> out of place"]
      }
    }
    return open.isEmpty ? [] : ["never closed: \(open)"]
  }

  struct Tag {
    let name: String
    let isEnd: Bool
    let attributes: [String: String]
  }

  /// Parses the tags, and reports malformed ones.
  private static func tags(of page: String, _ faults: inout [String]) -> [Tag] {
    var tags: [Tag] = []
    var rest = page.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[rest.index(after: start)...]
      if rest.first == UInt8(ascii: "!") { continue }
      let isEnd = rest.first == UInt8(ascii: "/")
      if isEnd { rest.removeFirst() }
      let name = take(&rest) { isNamePart($0) }
      guard !name.isEmpty else {
        faults.append("an unescaped <")
        continue
      }
      var attributes: [String: String] = [:]
      while let byte = rest.first, byte != UInt8(ascii: ">") {
        if [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "/")].contains(byte) {
          rest.removeFirst()
          continue
        }
        let key = take(&rest) { isNamePart($0) }
        guard !key.isEmpty else {
          faults.append("malformed attribute in <\(name)>")
          break
        }
        var value = ""
        if rest.first == UInt8(ascii: "=") {
          rest.removeFirst()
          guard rest.first == UInt8(ascii: "\"") else {
            faults.append("\(key) without quotes")
            break
          }
          rest.removeFirst()
          value = take(&rest) { $0 != UInt8(ascii: "\"") }
          if !rest.isEmpty { rest.removeFirst() }
        }
        attributes[key] = value
      }
      tags.append(Tag(name: name, isEnd: isEnd, attributes: attributes))
    }
    return tags
  }

  private static func take(
    _ rest: inout Substring.UTF8View, while isPart: (UInt8) -> Bool
  ) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest[part.endIndex...]
    return String(Substring(part))
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
