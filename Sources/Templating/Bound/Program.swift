import Localization
import Synchronization

/// A template with its partials, parents, and blocks expanded and its names resolved.
final class Program: Sendable {
  /// A rendering step; a section is followed by its content, which ends at `end`.
  enum Step: Sendable {
    case literal(Range<Int>)
    case insert(Reference)
    case section(Reference, end: Int)
    /// A section that is shown if a flag is set, or a list isn't empty.
    case condition(Reference, end: Int)
    case inverted(Reference, end: Int)
    /// The number of a message, formatted for its language.
    case count(Reference)
    /// A message with plural forms, by its index in ``Program/plurals``, followed by the forms.
    case plural(Reference, Int)
  }

  /// The forms of a message and where the steps of each end.
  struct Plural: Sendable {
    let forms: MessageForms
    var ends: [Int]
  }

  /// A key, by the positions of its model among the open sections and of the key in the model.
  struct Reference: Sendable {
    let depth: Int
    let key: Int
    /// For a dotted name, the index of the remaining keys in ``Program/paths``.
    let path: Int?
  }

  private let literals: [UInt8]
  private let steps: [Step]
  private let paths: [[Int]]
  private let plurals: [Plural]
  private let catalog: Catalog
  private let largest: Atomic<Int>

  init(
    literals: [UInt8], steps: [Step], paths: [[Int]], plurals: [Plural], catalog: Catalog
  ) {
    self.literals = literals
    self.steps = steps
    self.paths = paths
    self.plurals = plurals
    self.catalog = catalog
    largest = Atomic(literals.count + 1024)
  }

  func render(_ root: Rows) -> [UInt8] {
    let expected = largest.load(ordering: .relaxed)
    var run = Run(program: self, root: root, reserving: expected)
    run.perform(0..<steps.count)
    let bytes = run.output.bytes
    // A race can lose an update; the next page then grows its buffer one more time.
    if bytes.count > expected { largest.store(bytes.count, ordering: .relaxed) }
    return bytes
  }

  /// A rendering in progress.
  private struct Run: ~Copyable {
    let program: Program
    var output: Output
    /// The values of the keys of all open sections.
    var slots: [Slot] = []
    /// The start of each open section in `slots`.
    var scopes = [0]

    init(program: Program, root: Rows, reserving capacity: Int) {
      self.program = program
      output = Output(reserving: capacity)
      root.read(0, into: &slots)
    }

    mutating func perform(_ range: Range<Int>) {
      let all = program.steps
      let steps = all.span
      var index = range.lowerBound
      while index < range.upperBound {
        let step = steps[index]
        index += 1
        switch step {
        case .literal(let bytes):
          output.append(bytes, of: program.literals)
        case .insert(let reference):
          insert(read(reference))
        case .section(let reference, let end):
          show(index..<end, over: read(reference))
          index = end
        case .condition(let reference, let end):
          if read(reference).isTrue { perform(index..<end) }
          index = end
        case .inverted(let reference, let end):
          if !read(reference).isTrue { perform(index..<end) }
          index = end
        case .count(let reference):
          output.append(program.catalog.text(.value(.number(number(reference)))))
        case .plural(let reference, let plural):
          let plural = program.plurals[plural]
          let form = plural.forms.index(for: number(reference))
          perform((form == 0 ? index : plural.ends[form - 1])..<plural.ends[form])
          index = plural.ends[plural.ends.count - 1]
        }
      }
    }

    func read(_ reference: Reference) -> Slot {
      var slot = slots[scopes[reference.depth] + reference.key]
      guard let path = reference.path else { return slot }
      for key in program.paths[path] {
        guard case .rows(let rows) = slot, rows.count > 0 else { return .nothing }
        slot = rows.first[key]
      }
      return slot
    }

    private func number(_ reference: Reference) -> Int {
      if case .number(let number) = read(reference) { number } else { 0 }
    }

    mutating func insert(_ slot: Slot) {
      switch slot {
      case .text(let text): output.appendEscaped(text)
      case .message(let message): output.appendEscaped(program.catalog.text(message))
      case .number(let number): output.append(number)
      case .flag(let flag): output.append(flag ? "true" : "false")
      case .markup(let markup): markup.append(to: &output, program.catalog)
      case .nothing, .rows: break
      }
    }

    mutating func show(_ content: Range<Int>, over slot: Slot) {
      guard case .rows(let rows) = slot else {
        if slot.isTrue { perform(content) }
        return
      }
      let start = slots.count
      scopes.append(start)
      for row in 0..<rows.count {
        rows.read(row, into: &slots)
        perform(content)
        slots.removeSubrange(start...)
      }
      scopes.removeLast()
    }
  }
}
