import JSON
import Testing

@Suite struct ElementReaderTests {
  private func read(_ text: String, by size: Int) throws -> [String] {
    var reader = JSON.ElementReader(member: "users", largestElement: 100)
    let bytes = Array(text.utf8)
    var elements: [JSON.ElementReader.Element] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let part = Array(bytes[start..<min(start + size, bytes.count)])
      try reader.take(part, into: &elements)
    }
    try reader.finish()
    return elements.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  static let documents: [(text: String, elements: [String])] = [
    (#"{"users": []}"#, []),
    (
      #" { "users" : [ {"a":1} , {"b":[1,{"c":"]}"}]} ] } "#,
      [#"{"a":1}"#, #"{"b":[1,{"c":"]}"}]}"#]
    ),
    (
      #"{"kind":"x","n":[[1],{"users":[9]}],"users":[{"q":"\"\\"}],"last":null}"#,
      [#"{"q":"\"\\"}"#]
    ),
    (#"{"users":[1, true ,"x,]",null]}"#, ["1", "true", #""x,]""#, "null"]),
    (#"{"\u0075sers":[{}]}"#, ["{}"]),
    (#"{"a":1}"#, []), ("{}", []),
    (#"{"users":[{"ü":"€😀"}]}"#, [#"{"ü":"€😀"}"#]),
  ]

  @Test(arguments: documents.indices)
  func `elements are complete for any chunk size`(index: Int) throws {
    let document = Self.documents[index]
    for size in [1, 2, 3, 7, 1_000] {
      #expect(try read(document.text, by: size) == document.elements, "\(size)")
    }
  }

  @Test(arguments: [
    "", " ", "[", "[]", "{", #"{"users""#, #"{"users":"#, #"{"users":["#, #"{"users":[{}"#,
    #"{"users":[{}]"#, #"{"users":[,]}"#, #"{"users":[{},]}"#, #"{"users":[{}{}]}"#,
    #"{"users":{}}"#, #"{"users":[]}}"#, #"{"users":[]} x"#, #"{,}"#, #"{"a":1,}"#, #"{"a"}"#,
    #"{"a":,"b":1}"#, #"{"users":[],"users":[]}"#, #"{"users":[1]]}"#, "x", #"{"users":["a]}"#,
  ])
  func `invalid documents are refused`(text: String) {
    for size in [1, 1_000] {
      #expect(throws: JSONError.self) { try read(text, by: size) }
    }
  }

  @Test func `elements have a maximum size and a line number`() throws {
    let long = #"{"users":[{"a":""# + String(repeating: "x", count: 200) + #""}]}"#
    for size in [1, 50, 1_000] {
      #expect(throws: JSONError.tooLarge) { try read(long, by: size) }
    }
    var reader = JSON.ElementReader(member: "users")
    var elements: [JSON.ElementReader.Element] = []
    try reader.take(Array("{\"users\": [\n{},\n\n{\n}\n]}\n".utf8), into: &elements)
    #expect(elements.map(\.line) == [2, 4])
    try reader.finish()
    #expect(reader.hasFound)
  }
}
