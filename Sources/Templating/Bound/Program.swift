import Synchronization

/// A template with its partials, parents and blocks in place and its names resolved.
final class Program: Sendable {
  /// What to do next; a section is followed by its content, which ends at `end`.
  enum Step: Sendable {
    case literal(Range<Int>)
    case insert(Reference)
    case section(Reference, end: Int)
    case inverted(Reference, end: Int)
  }

  /// A key, by position: that of its model among the open sections, and its own in the model.
  struct Reference: Sendable {
    let depth: Int
    let key: Int
    /// The keys that lead on from there, for a dotted name.
    let path: [Int]
  }

  private let literals: [UInt8]
  private let steps: [Step]
  private let largest: Atomic<Int>

  init(literals: [UInt8], steps: [Step]) {
    self.literals = literals
    self.steps = steps
    largest = Atomic(literals.count + 1024)
  }

  func render(_ root: Rows) -> [UInt8] {
    let expected = largest.load(ordering: .relaxed)
    var run = Run(program: self, root: root, reserving: expected)
    run.perform(0..<steps.count)
    let bytes = run.output.bytes
    // A race may lose a size; the next page then grows its buffer once more, and that is all.
    if bytes.count > expected { largest.store(bytes.count, ordering: .relaxed) }
    return bytes
  }

  /// One rendering.
  private struct Run: ~Copyable {
    let program: Program
    var output: Output
    var scopes: [(rows: Rows, row: Int)]

    init(program: Program, root: Rows, reserving capacity: Int) {
      self.program = program
      output = Output(reserving: capacity)
      scopes = [(root, 0)]
    }

    mutating func perform(_ range: Range<Int>) {
      var index = range.lowerBound
      while index < range.upperBound {
        let step = program.steps[index]
        index += 1
        switch step {
        case .literal(let bytes):
          output.append(program.literals[bytes])
        case .insert(let reference):
          insert(read(reference))
        case .section(let reference, let end):
          show(index..<end, over: read(reference))
          index = end
        case .inverted(let reference, let end):
          if !read(reference).isTrue { perform(index..<end) }
          index = end
        }
      }
    }

    func read(_ reference: Reference) -> Slot {
      let scope = scopes[reference.depth]
      var slot = scope.rows.read(row: scope.row, key: reference.key)
      for key in reference.path {
        guard case .rows(let rows) = slot, rows.count > 0 else { return .nothing }
        slot = rows.read(row: 0, key: key)
      }
      return slot
    }

    mutating func insert(_ slot: Slot) {
      switch slot {
      case .text(let text): output.appendEscaped(text)
      case .number(let number): output.append(number)
      case .flag(let flag): output.append(flag ? "true" : "false")
      case .markup(let markup): output.append(markup.bytes)
      case .nothing, .rows: break
      }
    }

    mutating func show(_ content: Range<Int>, over slot: Slot) {
      guard case .rows(let rows) = slot else {
        if slot.isTrue { perform(content) }
        return
      }
      let depth = scopes.count
      guard rows.count > 0 else { return }
      scopes.append((rows, 0))
      for row in 0..<rows.count {
        scopes[depth].row = row
        perform(content)
      }
      scopes.removeLast()
    }
  }
}
