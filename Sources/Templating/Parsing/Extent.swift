/// The byte ranges of a tag, or of an opening tag and its closing tag, in the source.
struct Extent {
  /// The opening tag, including the rest of its line if it's standalone.
  var open: Range<Int>
  /// The closing tag likewise; the same as `open` for a tag without one.
  var close: Range<Int>
  var opensAlone: Bool
  var closesAlone: Bool
  /// The indices of the tags in between.
  let inner: Range<Int>
}

extension Parser {
  func extent(of index: Int) -> Extent {
    let tag = tags[index]
    guard let closeIndex = closes[index] else {
      let alone = tag.kind.canStandAlone ? lines.standalone(tag.range) : nil
      let range = alone ?? tag.range
      return Extent(
        open: range, close: range, opensAlone: alone != nil, closesAlone: alone != nil,
        inner: index + 1..<index + 1)
    }
    let inner = index + 1..<closeIndex
    let closing = tags[closeIndex].range
    if tag.kind == .parent { return parentExtent(tag.range, closing, inner) }
    let open = lines.standalone(tag.range)
    let close = lines.standalone(closing)
    return Extent(
      open: open ?? tag.range, close: close ?? closing, opensAlone: open != nil,
      closesAlone: close != nil, inner: inner)
  }

  /// Returns the extent of a parent, which is treated as one tag, since only arguments are used
  /// from its content.
  private func parentExtent(
    _ opening: Range<Int>, _ closing: Range<Int>, _ inner: Range<Int>
  ) -> Extent {
    let alone = lines.standalone(opening.lowerBound..<closing.upperBound)
    let whole = alone ?? opening.lowerBound..<closing.upperBound
    return Extent(
      open: whole.lowerBound..<opening.upperBound, close: closing.lowerBound..<whole.upperBound,
      opensAlone: alone != nil, closesAlone: alone != nil, inner: inner)
  }

  /// Returns the extent of a block argument, ignoring other content on its lines.
  private func argumentExtent(of index: Int) -> Extent {
    var extent = extent(of: index)
    let opening = tags[index].range
    let closing = tags[extent.inner.upperBound].range
    let end = lines.endIfBlank(after: opening.upperBound)
    let start = lines.startIfBlank(before: closing.lowerBound)
    extent.open = opening.lowerBound..<(end ?? opening.upperBound)
    extent.close = (start ?? closing.lowerBound)..<closing.upperBound
    extent.opensAlone = end != nil
    extent.closesAlone = start != nil
    return extent
  }

  /// Returns the blocks directly inside a parent, ignoring text.
  mutating func arguments(of parent: Extent) throws(TemplateError) -> [String: Block] {
    var arguments: [String: Block] = [:]
    var index = parent.inner.lowerBound
    while index < parent.inner.upperBound {
      let tag = tags[index]
      let extent = tag.kind == .block ? argumentExtent(of: index) : extent(of: index)
      switch tag.kind {
      case .block:
        guard arguments[tag.name] == nil else {
          throw TemplateError(.repeatedArgument(tag.name), at: tag.place)
        }
        if !extent.opensAlone { startedLine = lines.start(of: tag.range.lowerBound) }
        arguments[tag.name] = try block(tag, extent, in: [])
      case .comment, .delimiters: break
      default:
        let text = String(decoding: lines.source[tag.range], as: UTF8.self)
        throw TemplateError(.strayTagInParent(text), at: tag.place)
      }
      index = extent.inner.upperBound + (tag.kind.isOpening ? 1 : 0)
    }
    return arguments
  }

  /// Parses a block, replacing its content's own indentation by that of the place where it's
  /// rendered.
  mutating func block(
    _ tag: Tag, _ extent: Extent, in surrounding: ArraySlice<UInt8>
  ) throws(TemplateError) -> Block {
    let before = lines.startIfBlank(before: tag.range.lowerBound)
      .map { lines.source[$0..<tag.range.lowerBound] }
    let first =
      extent.opensAlone
      ? lines.indentation(of: extent.open.upperBound..<extent.close.lowerBound) : nil
    let indentation = first ?? before ?? surrounding
    return Block(
      name: tag.name, place: tag.place, nodes: try content(of: extent, without: indentation),
      indentation: Array(indentation.dropping(prefix: surrounding)),
      startsLine: extent.opensAlone)
  }
}
