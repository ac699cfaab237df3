import Templating
import Testing

struct InheritanceTests {
  /// Renders a template with partials named `a`, `b`, and so on.
  private func page(_ template: String, _ partials: String..., data: Value = [:]) throws -> String {
    let named = zip("abcdef", partials).map { (String($0), $1) }
    return try TemplatingTests.page(
      template, data, partials: Dictionary(uniqueKeysWithValues: named))
  }

  @Test func `a block shows its default content`() throws {
    #expect(try page("{{$t}}Default {{x}}{{/t}}\n", data: ["x": 1]) == "Default 1\n")
    #expect(try page("{{<a}}{{/a}}", "[{{$t}}Default{{/t}}]") == "[Default]")
    #expect(try page("{{>a}}", "[{{$t}}Default{{/t}}]") == "[Default]")
  }

  @Test func `an argument replaces the default`() throws {
    #expect(try page("{{<a}}{{$t}}Own{{/t}}{{/a}}", "[{{$t}}Default{{/t}}]") == "[Own]")
    #expect(try page("{{<a}}{{$t}}{{/t}}{{/a}}", "[{{$t}}Default{{/t}}]") == "[]")
    #expect(try page("{{<a}}{{$u}}2{{/u}}{{/a}}", "{{$t}}1{{/t}},{{$u}}9{{/u}}") == "1,2")
    #expect(try page("{{<a}}{{$t}}Own{{/t}}{{/a}}", "{{$t}}{{/t}}{{$t}}{{/t}}") == "OwnOwn")
  }

  @Test func `data doesn't affect blocks`() throws {
    let data: Value = ["t": "data"]
    #expect(try page("{{<a}}{{$t}}own{{/t}}{{/a}}", "{{$t}}x{{/t}}", data: data) == "own")
    #expect(try page("{{<a}}{{/a}}", "{{$t}}x{{/t}}", data: data) == "x")
  }

  @Test func `two uses of a parent don't affect each other`() throws {
    let template = "{{<a}}{{$t}}1{{/t}}{{/a}} {{<a}}{{$t}}2{{/t}}{{/a}} {{>a}}"
    #expect(try page(template, "|{{$t}}{{/t}}|") == "|1| |2| ||")
  }

  @Test func `the outermost argument wins`() throws {
    let chain = ["{{<b}}{{$t}}b{{/t}}{{/b}}", "{{<c}}{{$t}}c{{/t}}{{/c}}", "{{$t}}d{{/t}}"]
    #expect(
      try page("{{<a}}{{$t}}a{{/t}}{{/a}}", chain[0], chain[1], chain[2]) == "a")
    #expect(try page("{{<a}}{{/a}}", chain[0], chain[1], chain[2]) == "b")
    #expect(try page("{{>b}}", chain[0], chain[1], chain[2]) == "c")
  }

  @Test func `an argument applies to blocks in the parent's partials`() throws {
    #expect(try page("{{<a}}{{$t}}own{{/t}}{{/a}}", "[{{>b}}]", "{{$t}}x{{/t}}") == "[own]")
  }

  @Test func `an argument can define blocks itself`() throws {
    let middle = "{{<b}}{{$main}}<{{$inner}}default{{/inner}}>{{/main}}{{/b}}"
    #expect(try page("{{>a}}", middle, "{{$main}}{{/main}}") == "<default>")
    #expect(
      try page("{{<a}}{{$inner}}own{{/inner}}{{/a}}", middle, "{{$main}}{{/main}}") == "<own>")
  }

  @Test func `an argument is rendered in the context of its block`() throws {
    let data: Value = ["fruit": "apples", "nested": ["fruit": "bananas"]]
    let parent = "{{#nested}}{{$t}}You say {{fruit}}.{{/t}}{{/nested}}"
    #expect(
      try page("{{<a}}{{$t}}I say {{fruit}}.{{/t}}{{/a}}", parent, data: data)
        == "I say bananas.")
  }

  @Test func `text and comments in a parent are ignored`() throws {
    #expect(
      try page("{{<a}} x {{$t}}own{{/t}} {{! y }} z{{/a}}", "{{$t}}default{{/t}}") == "own")
  }

  @Test func `delimiters set in a parent apply to its arguments`() throws {
    #expect(try page("{{<a}}{{=| |=}}|$t||x||/t||/a|", "{{$t}}{{/t}}", data: ["x": 1]) == "1")
  }

  @Test func `a missing parent renders nothing`() throws {
    #expect(try page("[{{<a}}{{$t}}own{{/t}}{{/a}}]") == "[]")
  }
}
