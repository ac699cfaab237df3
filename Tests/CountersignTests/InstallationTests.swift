import Testing

@testable import countersign

@Suite struct InstallationTests {
  private static let commands = Countersign.commands
  private let manual = OperatorText.string(Manual(commands: commands).message)

  @Test func `the manual has every command with its options`() {
    for command in Self.commands {
      let heading = ".SS \(Manual.escaped(command.name))"
      #expect(manual.contains(heading), "\(command.name)")
      for option in command.options {
        let entry = "\\fB\(Manual.escaped("--\(option.name)"))\\fR"
        #expect(manual.contains(entry), "\(command.name) --\(option.name)")
      }
    }
  }

  @Test func `text in the manual isn't formatting`() {
    #expect(Manual.escaped("a-b\\c\nd") == "a\\-b\\ec d")
    #expect(Manual.escaped(".TH") == "\\&.TH")
    #expect(Manual.escaped("'x'") == "\\&'x'")
  }

  @Test func `an option of several commands has a value in all of them or in none`() {
    let options = Self.commands.flatMap { $0.options }
    let flags = Set(options.filter { $0.placeholder == nil }.map(\.name))
    let values = Set(options.filter { $0.placeholder != nil }.map(\.name))
    #expect(flags.intersection(values) == [])
  }
}
