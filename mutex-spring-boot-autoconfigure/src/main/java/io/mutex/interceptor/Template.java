package io.mutex.interceptor;

import java.util.List;
import java.util.regex.Pattern;

import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.support.AopUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;

/**
 * A text with <code>#{…}</code> expressions over the parameters of a method. Everything
 * else in it is literal. An expression that yields null, nothing, or an object without a
 * text of its own is an error, so that two calls never share a text by accident.
 */
final class Template {

	private static final Logger logger = LoggerFactory.getLogger(Template.class);

	private static final Pattern BROKEN = Pattern.compile("\\{\\s*#\\s*\\w");

	private static final Pattern BARE = Pattern.compile("#[a-zA-Z_]\\w*");

	private final String attribute;

	private final String text;

	private final List<Expression> parts;

	private final boolean constant;

	private final MethodExpressions expressions;

	private Template(String attribute, String text, List<Expression> parts, MethodExpressions expressions) {
		this.attribute = attribute;
		this.text = text;
		this.parts = parts;
		this.constant = parts.stream().allMatch(LiteralExpression.class::isInstance);
		this.expressions = expressions;
	}

	/**
	 * Reads a template.
	 * @param attribute the name of the attribute
	 * @param declared the text of the attribute
	 * @param expressions the method that it stands on
	 * @return the template
	 * @throws MutexConfigurationException if it can never be evaluated, or is a mistyped
	 * expression
	 */
	static Template parse(String attribute, String declared, MethodExpressions expressions) {
		String text = expressions.resolve(attribute, declared);
		if (text.isBlank()) {
			throw expressions.declaration()
				.refuse("its " + attribute + " '" + declared + "' resolves to nothing",
						"Set the property, or give the placeholder a default that is not empty");
		}
		List<Expression> parts = expressions.parseTemplate(attribute, text);
		for (Expression part : parts) {
			if (part instanceof LiteralExpression) {
				checkLiteral(attribute, part.getExpressionString(), text, expressions);
			}
		}
		return new Template(attribute, text, parts, expressions);
	}

	private static void checkLiteral(String attribute, String literal, String text, MethodExpressions expressions) {
		if (BROKEN.matcher(literal).find()) {
			throw expressions.declaration()
				.refuse("its " + attribute + " '" + text + "' looks like an expression, but is literal text",
						"Write #{#name} to use a parameter");
		}
		boolean namesParameter = BARE.matcher(literal)
			.results()
			.anyMatch((match) -> expressions.parameterNames().contains(match.group().substring(1)));
		if (namesParameter || BARE.matcher(text).matches()) {
			logger.warn("The {} '{}' of {} is literal text, the same for every call: write #{#name} to use a parameter",
					attribute, text, expressions.declaration());
		}
	}

	/**
	 * The unevaluated text.
	 * @return the text, with placeholders resolved
	 */
	String text() {
		return this.text;
	}

	/**
	 * Whether every evaluation yields the same.
	 * @return {@code true} if there is no expression in it
	 */
	boolean isConstant() {
		return this.constant;
	}

	/**
	 * Evaluates the template for a call.
	 * @param call the call
	 * @return the text, possibly not a valid key
	 * @throws MutexException if an expression fails or yields no text
	 */
	String evaluate(Call call) {
		if (this.constant) {
			return this.text;
		}
		StringBuilder result = new StringBuilder();
		for (Expression part : this.parts) {
			result.append((part instanceof LiteralExpression) ? part.getExpressionString() : value(part, call));
		}
		return result.toString();
	}

	private String value(Expression part, Call call) {
		Object value;
		try {
			value = part.getValue(call.evaluationContext());
		}
		catch (EvaluationException ex) {
			throw fault("cannot be evaluated: " + ex.getMessage(), ex);
		}
		if (value == null) {
			throw fault("evaluates to null in #{" + part.getExpressionString() + "}", null);
		}
		String text = value.toString();
		if (text == null || text.isBlank()) {
			throw fault("evaluates to nothing in #{" + part.getExpressionString() + "}", null);
		}
		if (text.indexOf('@') > 0 && text.startsWith(AopUtils.getTargetClass(value).getName() + "@")) {
			throw fault("evaluates to an object without a text of its own in #{" + part.getExpressionString() + "}: "
					+ value.getClass().getName(), null);
		}
		return text;
	}

	private MutexException fault(String problem, @Nullable Throwable cause) {
		return new MutexException(null, "the " + this.attribute + " '" + this.text + "' of "
				+ this.expressions.declaration() + " " + problem + "; the method has not run", cause);
	}

}
